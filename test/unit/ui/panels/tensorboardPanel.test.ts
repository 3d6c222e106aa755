// TensorBoard's tab when its machine is disconnected and connected again.
import type * as vscode from 'vscode';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Services } from '../../../../src/ui/services.js';
import { TensorBoardPanel } from '../../../../src/ui/panels/tensorboardPanel.js';

vi.mock('vscode', () => {
  class Uri {
    constructor(private readonly url: URL) {}
    static parse(text: string): Uri {
      return new Uri(new URL(text));
    }
    static file(path: string): object {
      return { path };
    }
    get scheme(): string {
      return this.url.protocol.replace(':', '');
    }
    get authority(): string {
      return this.url.host;
    }
    toString(): string {
      return this.url.href;
    }
  }
  const nothing = (): { dispose: () => void } => ({ dispose: () => undefined });
  return {
    Uri,
    ColorThemeKind: { Dark: 2, HighContrast: 3 },
    env: { asExternalUri: (uri: unknown) => Promise.resolve(uri) },
    window: { activeColorTheme: { kind: 2 }, onDidChangeActiveColorTheme: nothing },
  };
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('opens it anew where the address led to the machine that is gone', async () => {
  let machine = { name: 'first' };
  let address: { to: object; root: string } | undefined;
  let opened = 0;
  const boards = {
    open: (to: object) => {
      const root = `http://127.0.0.1:${6006 + opened++}/`;
      address = { to, root };
      return Promise.resolve({ root, allow: () => undefined, under: () => `${root}key/` });
    },
    leadsTo: (to: object) => address?.to === to,
    status: () => Promise.resolve({ running: true, lastLines: [] }),
  };
  const here = (): Promise<object> => Promise.resolve(machine);
  const backend = { boards, machine: here, machineUnlessLeft: here };
  const services = {
    backend: () => Promise.resolve(backend),
    context: { asAbsolutePath: (path: string) => path },
    logger: { log: () => undefined },
  } as unknown as Services;
  const nothing = (): { dispose: () => void } => ({ dispose: () => undefined });
  let close: () => void = () => undefined;
  const tab = {
    webview: { html: '', options: {}, onDidReceiveMessage: nothing },
    visible: true,
    onDidDispose: (listener: () => void) => {
      close = listener;
      return nothing();
    },
  } as unknown as vscode.WebviewPanel;
  const run = { profile: 'lab', id: 'r', dir: nodePath('/runs/r') };
  const panel = new TensorBoardPanel(services, tab, run, () => undefined);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(panel.url).toContain('127.0.0.1:6006/key/');
  expect(opened).toBe(1);
  machine = { name: 'second' };
  await vi.advanceTimersByTimeAsync(3000);
  expect(opened).toBe(2);
  expect(panel.url).toContain('127.0.0.1:6007/key/');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(opened).toBe(2);
  close();
});
