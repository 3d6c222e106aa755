// A workbench of its own for a test file: code-server with our extension and the driver, a browser
// that shows it, and profiles and runs in a temporary folder.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { chromium, type Browser, type FrameLocator, type Page } from 'playwright-core';
import { bundleEditorTests } from '../../../scripts/editor/bundle.mjs';
import { chromiumFlags, ensureChromium } from '../../../scripts/editor/chromium.mjs';
import {
  installVsix,
  linkExtension,
  listExtension,
  startCodeServer,
  type CodeServer,
} from '../../../scripts/editor/codeServer.mjs';
import type { Snapshot } from '../../../src/ui/snapshot.js';
import { HostClient } from './hostClient.js';

export const root = resolve(import.meta.dirname, '../../..');
const cli = join(root, 'dist/trainyard.cjs');
const artifacts = join(root, 'test/artifacts');

/** Names of this VS Code's own themes, and the class that the workbench then has. */
export const themes = {
  light: { name: 'Light 2026', mark: 'vs' },
  dark: { name: 'Dark 2026', mark: 'vs-dark' },
  'high-contrast': { name: 'Default High Contrast', mark: 'hc-black' },
  'high-contrast-light': { name: 'Default High Contrast Light', mark: 'hc-light' },
} as const;
export type Theme = keyof typeof themes;

export interface State {
  phase: string;
  supervisor: { pid: number };
  generation: number;
}

export class Workbench {
  private constructor(
    /** Everything of this workbench; removed at the end. */
    readonly folder: string,
    readonly suite: string,
    private readonly server: CodeServer,
    private readonly browser: Browser,
    readonly page: Page,
    readonly host: HostClient,
    private readonly more: Readonly<Record<string, string>>,
  ) {}

  /**
   * With `vsix`, our extension is installed from it; otherwise it is the one of this clone. `files`
   * are the workspace's, `more` is what the editor's environment has besides.
   */
  static async open(
    vsix?: string,
    files: Record<string, string> = {},
    more: Record<string, string> = {},
  ): Promise<Workbench> {
    const { driver, suite } = await bundleEditorTests();
    const folder = mkdtempSync(join(tmpdir(), 'ty-editor-')); // short: paths of Unix sockets are limited
    const at = (name: string): string => join(folder, name);
    for (const name of ['home', 'driver', 'workspace']) mkdirSync(at(name));
    for (const [name, text] of Object.entries(files)) {
      const path = at(join('workspace', name));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    const profiles = [{ name: 'local', kind: 'local', workdir: at('work') }];
    writeFileSync(at('home/profiles.json'), JSON.stringify({ version: 1, profiles }));
    const folders = { extensionsDir: at('extensions'), userDataDir: at('user') };
    if (vsix === undefined) {
      linkExtension(folders.extensionsDir, 'trainyard', root);
      linkExtension(folders.extensionsDir, 'test-driver', driver);
    } else {
      installVsix(vsix, folders);
      listExtension(folders.extensionsDir, driver);
    }
    const env = { TRAINYARD_HOME: at('home'), TRAINYARD_TEST_DRIVER: at('driver'), ...more };
    const server = await startCodeServer({ ...folders, folder: at('workspace'), env });
    try {
      const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumFlags });
      const page = await browser.newPage({
        viewport: { width: 1280, height: 800 },
        reducedMotion: 'reduce',
      });
      const host = new HostClient(at('driver'));
      const workbench = new Workbench(folder, suite, server, browser, page, host, more);
      await page.goto(server.url);
      await workbench.settled();
      return workbench;
    } catch (error) {
      await server.dispose();
      throw error;
    }
  }

  private async settled(oldHost?: number): Promise<void> {
    await this.page.locator('.monaco-workbench .activitybar').waitFor({ timeout: 60_000 });
    await this.host.next(oldHost);
  }

  /** What "Reload Window" does: the page and its extension host begin again. */
  async reload(): Promise<void> {
    const old = this.host.current()?.pid;
    // The command saves which tabs are open, as the browser's own reload does not always. Nobody is
    // left to answer it.
    void this.host.command('workbench.action.reloadWindow').catch(() => undefined);
    await this.host.next(old);
    await this.settled(old);
  }

  snapshot(): Promise<Snapshot> {
    return this.host.ask('snapshot', {}) as Promise<Snapshot>;
  }

  /** Opens our container in the side bar; a click on its icon would close one that is open. */
  async showViews(): Promise<void> {
    await this.host.command('workbench.view.extension.trainyard');
    await this.page.locator('.sidebar .pane-header').first().waitFor();
  }

  /** Types into the command palette and returns the lines it offers. */
  async palette(text: string): Promise<string[]> {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input').first();
    await input.fill(`>${text}`);
    const rows = this.page.locator('.quick-input-list .monaco-list-row');
    await rows.first().waitFor();
    return rows.allInnerTexts();
  }

  async screenshot(name: string, theme: Theme, width: number, height = 900): Promise<void> {
    await this.theme(theme);
    await this.page.setViewportSize({ width, height });
    await this.page.locator('.monaco-workbench').hover({ position: { x: 2, y: 2 } });
    mkdirSync(artifacts, { recursive: true });
    const path = join(artifacts, `editor-${name}-${theme}-${width}.png`);
    await this.page.screenshot({ path, animations: 'disabled' });
  }

  async theme(theme: Theme): Promise<void> {
    const { name: value, mark } = themes[theme];
    await this.host.ask('setting', { key: 'workbench.colorTheme', value });
    await this.page.locator(`.monaco-workbench.${mark}`).waitFor();
  }

  /** The page inside the webview tab that is in front. */
  webview(): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  }

  writeFile(path: string, text: string): Promise<void> {
    return writeFile(path, text);
  }

  /** Run folders, oldest first. */
  runs(): string[] {
    const folder = join(this.folder, 'work/runs');
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
  }

  state(run: string): State {
    return JSON.parse(readFileSync(join(run, 'state.json'), 'utf8')) as State;
  }

  /** The command-line tool on this workbench's profiles, with what the editor's environment has. */
  cli(...args: string[]): string {
    const env = { ...process.env, ...this.more, TRAINYARD_HOME: join(this.folder, 'home') };
    return execFileSync(process.execPath, [cli, ...args], { env, encoding: 'utf8', timeout: 60_000 });
  }

  /** The same, while the test goes on. The caller ends it. */
  cliBeside(...args: string[]): ChildProcess {
    const env = { ...process.env, ...this.more, TRAINYARD_HOME: join(this.folder, 'home') };
    return spawn(process.execPath, [cli, ...args], { env, stdio: 'ignore' });
  }

  /** Ends the editor and the runs that are left, and removes everything. */
  async close(): Promise<void> {
    await this.browser.close();
    await this.server.dispose();
    const over = ['finished', 'stopped', 'failed'];
    try {
      for (const run of this.startedRuns()) {
        if (!over.includes(this.state(run).phase)) this.cli('stop', run, '--now');
        this.cli('tensorboard', run, '--stop'); // it would end by itself, but only half an hour later
      }
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  startedRuns(): string[] {
    try {
      return this.runs();
    } catch {
      return []; // nothing was run
    }
  }
}
