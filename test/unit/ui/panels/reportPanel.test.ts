// In which tab a report is shown.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { htmlPage } from '../../../../src/core/scaling/html.js';
import { ReportPanels } from '../../../../src/ui/panels/reportPanel.js';
import type { Services } from '../../../../src/ui/services.js';

/** A tab as the editor has it. */
class Panel {
  readonly webview = { html: '', options: {} };
  readonly reveal = vi.fn();
  private gone: () => void = () => undefined;
  constructor(readonly title: string) {}

  onDidDispose(listener: () => void): void {
    this.gone = listener;
  }

  dispose(): void {
    this.gone();
  }
}

const editor = vi.hoisted(() => ({
  panels: [] as unknown[],
  make: (title: string): unknown => title,
  restore: undefined as ((panel: unknown, state: unknown) => Promise<void>) | undefined,
}));
vi.mock('vscode', () => ({
  ViewColumn: { Active: -1 },
  Uri: { file: (path: string) => ({ path }) },
  window: {
    createWebviewPanel: (_type: string, title: string) => {
      const panel = editor.make(title);
      editor.panels.push(panel);
      return panel;
    },
    registerWebviewPanelSerializer: (
      _type: string,
      { deserializeWebviewPanel }: { deserializeWebviewPanel: typeof editor.restore },
    ) => {
      editor.restore = deserializeWebviewPanel;
      return { dispose: () => undefined };
    },
  },
}));

let folder: string;
let reports: ReportPanels;
beforeEach(() => {
  editor.panels.length = 0;
  editor.make = (title) => new Panel(title);
  folder = mkdtempSync(join(tmpdir(), 'reports-'));
  for (const name of ['scaling-lab-1', 'scaling-lab-2']) {
    mkdirSync(join(folder, 'reports', name), { recursive: true });
    writeFileSync(join(folder, 'reports', name, 'scaling.html'), htmlPage('Scaling', [`<p>${name}</p>`]));
  }
  const context = { globalStorageUri: { fsPath: folder }, asAbsolutePath: (path: string) => path };
  reports = new ReportPanels({ context } as unknown as Services);
});
afterEach(() => {
  reports.dispose();
  rmSync(folder, { recursive: true });
});

const show = (name: string, title = 'Scaling of lab'): Promise<void> =>
  reports.show(title, join(reports.folder, name), 'scaling.html');
const panels = (): Panel[] => editor.panels as Panel[];

it('shows a later report in the tab of the same title', async () => {
  await show('scaling-lab-1');
  await show('scaling-lab-2');
  expect(panels()).toHaveLength(1);
  expect(panels()[0]?.webview.html).toContain('<p>scaling-lab-2</p>');
  expect(panels()[0]?.reveal).toHaveBeenCalledOnce();
  await show('scaling-lab-2', 'Scaling of rack');
  expect(panels().map(({ title }) => title)).toEqual(['Scaling of lab', 'Scaling of rack']);
});

it('makes a new tab once the first one was closed', async () => {
  await show('scaling-lab-1');
  panels()[0]?.dispose();
  await show('scaling-lab-2');
  expect(panels()).toHaveLength(2);
});

it('shows a later report in a tab that came back after a reload', async () => {
  const panel = new Panel('Scaling of lab');
  const state = { title: 'Scaling of lab', folder: 'scaling-lab-1', file: 'scaling.html' };
  await editor.restore?.(panel, state);
  expect(panel.webview.html).toContain('<p>scaling-lab-1</p>');
  await show('scaling-lab-2');
  expect(panels()).toHaveLength(0);
  expect(panel.webview.html).toContain('<p>scaling-lab-2</p>');
});

it('takes no tab from an older report that was opened while a newer one is made', async () => {
  const refresh = (name: string): Promise<void> =>
    reports.refresh('Scaling of lab', join(reports.folder, name), 'scaling.html');
  await show('scaling-lab-2');
  const page = panels()[0]?.webview;
  page!.html = 'an older state';
  await refresh('scaling-lab-2');
  expect(page?.html).toContain('<p>scaling-lab-2</p>');
  await show('scaling-lab-1');
  await refresh('scaling-lab-2');
  expect(page?.html).toContain('<p>scaling-lab-1</p>');
  await show('scaling-lab-2');
  expect(page?.html).toContain('<p>scaling-lab-2</p>');
  expect(panels()).toHaveLength(1);
});
