// The dashboard's page in a real browser, with the editor's part played by the test: its API, its
// theme, its rules on what a page may load, and the extension's answers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { chromiumFlags, ensureChromium } from '../../scripts/editor/chromium.mjs';
import { dashboardBundle } from '../../scripts/build/dashboardBundle.mjs';
import type { FromPage, ToPage } from '../../src/webview/protocol.js';
import type { SimulatedRun } from './simulatedRun.js';
import { bodyClass, themeStyle, type Theme } from './themes.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const artifacts = join(root, 'test/artifacts');
const bundle = join(artifacts, 'webview');
const origin = 'http://dashboard.test';

const policy = [
  `default-src 'none'`,
  `script-src 'nonce-test'`,
  `style-src ${origin} 'unsafe-inline'`,
  `font-src ${origin}`,
  `img-src ${origin} data:`,
].join('; ');

const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', ttf: 'font/ttf' };

const pageText = (theme: Theme): string => `<!doctype html>
<html lang="en" style='${themeStyle(theme)}'>
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <title>Dashboard, simulated</title>
    <link rel="stylesheet" href="dashboard.css">
  </head>
  <body class="${bodyClass(theme)}" data-vscode-theme-kind="${bodyClass(theme)}">
    <div id="app"></div>
    <script nonce="test" src="dashboard.js"></script>
  </body>
</html>`;

export async function openBrowser(): Promise<Browser> {
  await build({
    ...(dashboardBundle as Parameters<typeof build>[0]),
    absWorkingDir: root,
    outdir: bundle,
    minify: true,
    logLevel: 'warning',
  });
  return chromium.launch({
    executablePath: ensureChromium(),
    args: chromiumFlags,
  });
}

export class Dashboard {
  readonly posted: FromPage[] = [];
  /** What the browser complained of. */
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly run: SimulatedRun | undefined,
  ) {}

  /** Without a run nobody answers. */
  static async open(
    browser: Browser,
    run?: SimulatedRun,
    { width = 1200, theme = 'dark' }: { width?: number; theme?: Theme } = {},
  ): Promise<Dashboard> {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const dashboard = new Dashboard(page, run);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) dashboard.complaints.push(message.text());
    });
    page.on('pageerror', (error) => dashboard.complaints.push(error.message));
    await page.route('**/*', (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: pageText(theme) });
      if (pathname === '/favicon.ico') return route.fulfill({ status: 204 });
      const name = pathname.slice(1);
      const contentType = types[name.split('.').at(-1) ?? ''] ?? 'text/plain';
      return route.fulfill({ contentType, body: readFileSync(join(bundle, name)) });
    });
    await page.exposeFunction('postToTest', (message: FromPage) => dashboard.receive(message));
    await page.addInitScript(() => {
      const scope = window as unknown as Record<string, (message: unknown) => unknown>;
      scope['acquireVsCodeApi'] = () => ({
        postMessage: (message: unknown) => scope['postToTest']?.(message),
        getState: () => JSON.parse(localStorage.getItem('state') ?? 'null') as unknown,
        setState: (state: unknown) => {
          localStorage.setItem('state', JSON.stringify(state));
        },
      });
    });
    await page.goto(`${origin}/`);
    if (run) await dashboard.settled();
    return dashboard;
  }

  async send(message: ToPage): Promise<void> {
    await this.page.evaluate((data) => {
      window.postMessage(data);
    }, message);
  }

  /** Sends what is new in the run, and waits until it is drawn. */
  async sendUpdate(): Promise<void> {
    if (!this.run) throw new Error('there is no run');
    const update = this.run.update();
    await this.send(update);
    await this.page.waitForSelector(`#app[data-sequence="${update.sequence}"]`);
  }

  async settled(): Promise<void> {
    await this.page.waitForSelector('#app[data-sequence]');
    await this.page.waitForTimeout(400);
  }

  text(selector: string): Promise<string> {
    return this.page.locator(selector).first().innerText();
  }

  attribute(name: string): Promise<string | null> {
    return this.page.locator('#app').getAttribute(name);
  }

  async kept(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.page.evaluate(() => localStorage.getItem('state') ?? '{}')) as Record<
      string,
      unknown
    >;
  }

  async setTheme(theme: Theme): Promise<void> {
    await this.page.evaluate(
      ([style, name]) => {
        document.documentElement.setAttribute('style', style);
        document.body.className = name;
        document.body.dataset['vscodeThemeKind'] = name;
      },
      [themeStyle(theme), bodyClass(theme)] as const,
    );
    await this.page.waitForTimeout(300);
  }

  async screenshot(name: string): Promise<void> {
    // As tall as the page, so that parts out of sight are drawn too.
    const height = await this.page.evaluate(() => document.documentElement.scrollHeight);
    const width = this.page.viewportSize()?.width ?? 1200;
    await this.page.setViewportSize({ width, height });
    await this.page.waitForTimeout(400);
    await this.page.screenshot({ path: join(artifacts, `dashboard-${name}.png`) });
    await this.page.setViewportSize({ width, height: 900 });
  }

  /** A part of the page alone, whole. */
  async screenshotOf(part: Locator, name: string): Promise<void> {
    await part.screenshot({ path: join(artifacts, `dashboard-${name}.png`), animations: 'disabled' });
  }

  private async receive(message: FromPage): Promise<void> {
    this.posted.push(message);
    if (message.type === 'failed') this.complaints.push(message.message);
    if (message.type === 'ready' && this.run) await this.send(this.run.full());
  }
}

/** How a test opens the dashboard of a run. */
type OpenDashboard = (run?: SimulatedRun, options?: { width?: number; theme?: Theme }) => Promise<Dashboard>;

/**
 * For the tests of a file: one browser for all of them, one dashboard for each, which is closed after
 * the test. The test fails where the browser complained.
 */
export function dashboards(): OpenDashboard {
  let browser: Browser;
  let open: Dashboard | undefined;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    const dashboard = open;
    open = undefined;
    await dashboard?.page.close();
    expect(dashboard?.complaints ?? []).toEqual([]);
  });
  return async (run, options) => (open = await Dashboard.open(browser, run, options));
}
