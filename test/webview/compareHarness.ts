// The page of a comparison in a real browser; the test plays the editor's part.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { ComparisonUpdate, FromComparePage } from '../../src/webview/protocol.js';
import { bodyClass, themeStyle, type Theme } from './themes.js';

// Where harness.ts puts the bundle; the benchmark runs this file from there.
const bundle = join(fileURLToPath(new URL('../..', import.meta.url)), 'test/artifacts/webview');
const origin = 'http://compare.test';
const policy = `default-src 'none'; script-src 'nonce-test'; style-src ${origin} 'unsafe-inline'; font-src ${origin}; img-src ${origin} data:`;
const pageText = (theme: Theme): string => `<!doctype html>
<html lang="en" style='${themeStyle(theme)}'>
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <title>Comparison, simulated</title>
    <link rel="stylesheet" href="compare.css">
  </head>
  <body class="${bodyClass(theme)}" data-vscode-theme-kind="${bodyClass(theme)}">
    <div id="app" data-runs="[]"></div>
    <script nonce="test" src="compare.js"></script>
  </body>
</html>`;

export interface Opened {
  page: Page;
  posted: FromComparePage[];
  complaints: string[];
  send: (update: ComparisonUpdate) => Promise<void>;
}

export interface Look {
  width?: number;
  theme?: Theme;
}

/** `openBrowser` of harness.ts has made the bundle. */
export async function openComparison(
  browser: Browser,
  update: ComparisonUpdate,
  { width = 1280, theme = 'dark' }: Look = {},
): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const posted: FromComparePage[] = [];
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', ttf: 'font/ttf' };
  await page.route('**/*', (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: pageText(theme) });
    if (pathname === '/favicon.ico') return route.fulfill({ status: 204 });
    const contentType = types[pathname.split('.').at(-1) ?? ''] ?? 'text/plain';
    return route.fulfill({ contentType, body: readFileSync(join(bundle, pathname)) });
  });
  await page.exposeFunction('postToTest', (message: FromComparePage) => posted.push(message));
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
  const send = async (data: ComparisonUpdate): Promise<void> => {
    await page.evaluate((message) => {
      window.postMessage(message);
    }, data);
    await page.waitForSelector(`#app[data-pending="${data.pending}"]`);
    await page.waitForTimeout(300);
  };
  await send(update);
  return { page, posted, complaints, send };
}
