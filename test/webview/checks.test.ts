// The page of a check in a real browser: what it shows, what its buttons ask for, and what axe
// finds.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bad, good, warned, type CheckResult } from '../../src/core/base/checks.js';
import { synchroniseClock } from '../../src/core/base/nodeCommands.js';
import { buttonsOf, checkPage, type CheckButton, type CheckState } from '../../src/ui/panels/checkPage.js';
import { findings } from './findings.js';
import { openBrowser } from './harness.js';
import { bodyClass, themeStyle, type Theme } from './themes.js';

const artifacts = join(import.meta.dirname, '../artifacts');
const origin = 'http://checks.test';
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

const nodes = (count: number): string[] => Array.from({ length: count }, (_, index) => `gpu${index + 1}`);

/** The second node has no room and no port, the last has an older glibc. */
function results(names: readonly string[]): CheckResult[] {
  const at = (host: string, result: CheckResult): CheckResult => ({ ...result, host });
  const range = '47000-47100';
  return names.flatMap((host, index) => [
    at(host, good('connection', 'logged in')),
    at(host, good('glibc', index === names.length - 1 ? '2.31' : '2.36')),
    at(host, good('python', `3.11.2 in /opt/python-of-${host}/bin`)),
    index === 1
      ? at(host, bad('disk', '0.1 GB free in /home/ada/.trainyard', { kind: 'moreSpace', host }))
      : at(host, good('disk', `${(812 - index).toFixed(1)} GB free in /home/ada/.trainyard`)),
    ...(index === 0
      ? [at(host, good('head port', 'port 47000 cannot be reached from this machine at 10.0.0.11'))]
      : index === 1
        ? [
            at(
              host,
              bad('ports', 'cannot reach gpu1: <no> route', {
                kind: 'openPorts',
                profile: 'lab',
                host: 'gpu1',
                range,
              }),
            ),
          ]
        : [at(host, good('ports', 'reaches gpu1'))]),
  ]);
}

const done = (count: number, deep = false): CheckState => ({
  ...{ kind: 'done', deep },
  results: results(nodes(count)),
  at: new Date('2026-01-01T12:00:00'),
});

const commandsOf = (buttons: readonly CheckButton[]): unknown[] =>
  buttons.map((button) => ('fix' in button ? button.fix : button.commands));

interface OpenOptions {
  width?: number;
  theme?: Theme;
  measurable?: boolean;
}

async function open(
  count: number,
  state: CheckState,
  { width = 1200, theme = 'dark', measurable = true }: OpenOptions = {},
): Promise<{ page: Page; posted: unknown[] }> {
  const page = await browser.newPage({ viewport: { width, height: 760 } });
  const posted: unknown[] = [];
  const place = { source: origin, style: 'dashboard.css', nonce: 'test' };
  const text = checkPage({ name: 'lab', nodes: nodes(count), measurable }, state, place)
    .replace('<html lang="en">', `<html lang="en" style='${themeStyle(theme)}'>`)
    .replace('<body>', `<body class="${bodyClass(theme)}">`);
  await page.route('**/*', (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: text });
    const contentType = pathname.endsWith('.css') ? 'text/css' : 'font/ttf';
    const known = /^\/(dashboard\.css|codicon\.ttf)$/.test(pathname);
    if (!known) return route.fulfill({ status: 204 });
    return route.fulfill({ contentType, body: readFileSync(join(artifacts, 'webview', pathname)) });
  });
  await page.exposeFunction('postToTest', (message: unknown) => posted.push(message));
  await page.addInitScript(() => {
    const scope = window as unknown as Record<string, (message: unknown) => unknown>;
    scope['acquireVsCodeApi'] = () => ({
      postMessage: (message: unknown) => scope['postToTest']?.(message),
      setState: (state: unknown) => scope['postToTest']?.({ state }),
    });
  });
  await page.goto(`${origin}/`);
  return { page, posted };
}

test('what failed comes first, what differs is marked, and buttons do what the remedies say', async () => {
  const { page, posted } = await open(3, done(3));
  const rows = await page.locator('tbody tr').allInnerTexts();
  expect(rows.map((row) => row.split(/\s{2,}|\t/)[0])).toEqual([
    'disk',
    'ports',
    'glibc',
    'connection',
    'python',
    'head port',
  ]);
  expect(rows[0]).toContain('failed');
  expect(rows[3]).toContain('logged in on all nodes');
  expect(await page.locator('.differs').count()).toBe(1);
  expect(rows[2]).toContain('differs');
  expect(await page.getByRole('status').innerText()).toMatch(/^2 of 15 checks failed, at gpu2\. Checked at/);
  await expect(page.getByText('<no> route').first().innerText()).resolves.toContain('<no> route');
  const buttons = page.getByRole('listitem').getByRole('button');
  expect(await buttons.count()).toBe(2);
  expect(await page.locator('td').getByRole('button').allInnerTexts()).toEqual([
    'Open Profile',
    'Open Profile',
  ]);
  expect(commandsOf(buttonsOf({ nodes: nodes(3) }, done(3)))).toMatchObject([
    [{ id: 'trainyard.editProfile', place: { host: 'gpu2' }, field: 'workdir' }],
    [{ id: 'trainyard.editProfile', place: { profile: 'lab', host: 'gpu1' }, field: 'address' }],
  ]);
  await buttons.nth(1).click();
  await page.getByRole('button', { name: 'Check Again' }).press('Enter');
  expect(posted).toEqual([
    { state: { profile: 'lab' } },
    { type: 'remedy', button: 1 },
    { type: 'again', deep: false },
  ]);
  await page.close();
});

test.each(['dark', 'light', 'high-contrast'] as const)('axe finds nothing, %s', async (theme) => {
  for (const [count, width] of [
    [3, 1200],
    [16, 600],
  ] as const) {
    const { page } = await open(count, done(count), { width, theme });
    expect(await findings({ page })).toEqual([]);
    await page.screenshot({ path: join(artifacts, `checks-${theme}-${count}-${width}.png`) });
    await page.close();
  }
});

test('16 nodes scroll below one another, with the names of the checks in sight', async () => {
  const { page } = await open(16, done(16), { width: 600 });
  await page.getByRole('button', { name: 'A Column for Each Node' }).click();
  const table = page.locator('.scroll:visible');
  expect(await table.locator('thead th').count()).toBe(17);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(600);
  await table.evaluate((box) => {
    box.scrollLeft = box.scrollWidth;
  });
  const last = table.locator('thead th').last();
  expect((await last.boundingBox())!.x).toBeLessThan(600);
  expect((await table.locator('tbody th').first().boundingBox())!.x).toBeGreaterThanOrEqual(0);
  await page.close();
});

/**
 * 32 nodes: one is slow to be believed, one has no room, one another glibc, all others are alike.
 */
function many(): CheckState {
  const names = nodes(32);
  const found = names.flatMap((host, index): CheckResult[] => [
    { ...good('OS', 'Debian GNU/Linux 12 (bookworm)'), host },
    { ...good('glibc', index === 20 ? '2.31' : '2.36'), host },
    index === 4
      ? { ...warned('clock', '7.0 s ahead of most nodes', synchroniseClock), host }
      : { ...good('clock', 'with most nodes'), host, amount: index / 1000 },
    index === 11
      ? { ...bad('disk', '0.1 GB free in /home/ada', { kind: 'moreSpace', host }), host, amount: 1 }
      : { ...good('disk', `${812 - index}.0 GB free in /home/ada`), host, amount: 812 - index },
    { ...good('MTU', '9000'), host },
    { ...good('ports', 'reaches all 31 others'), host },
  ]);
  return { kind: 'done', results: found, at: new Date('2026-01-01T12:00:00') };
}

test('nodes that are alike are one column, and each has its own where somebody wants that', async () => {
  const { page, posted } = await open(32, many());
  const heads = (): Promise<string[]> => page.locator('.scroll:visible thead th').allInnerTexts();
  const joined = (await heads()).map((head) => head.replace(/\s*\n\s*/, ': '));
  expect(joined.slice(2)).toEqual(['gpu5', 'gpu12', 'gpu21']);
  expect(joined[1]).toBe('gpu1-gpu4, gpu6-gpu11, gpu13-gpu20, gpu22-gpu32: 29 nodes');
  const rows = await page.locator('.scroll:visible tbody tr').allInnerTexts();
  expect(rows.map((row) => row.split(/\s{2,}|\t/)[0])).toEqual([
    'disk',
    'clock',
    'glibc',
    'OS',
    'MTU',
    'ports',
  ]);
  expect(rows[0]).toContain('781.0 GB free in /home/ada to 812.0 GB free in /home/ada');
  expect(rows[1]).toContain('warning');
  expect(await page.getByRole('status').innerText()).toMatch(
    /^1 of 192 checks failed, at gpu12\. 1 warning\. Checked at/,
  );
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('disk, gpu12: 0.1 GB free'),
    expect.stringContaining('clock, gpu5: 7.0 s ahead of most nodes.'),
  ]);
  const toggle = page.getByRole('button', { name: 'A Column for Each Node' });
  await toggle.press('Enter');
  expect(await toggle.getAttribute('aria-pressed')).toBe('true');
  expect(await heads()).toEqual(['Check', ...nodes(32)]);
  expect(posted).toContainEqual({ state: { profile: 'lab', each: true } });
  await toggle.press('Enter');
  expect(await heads()).toHaveLength(5);
  await page.getByRole('cell').getByRole('button', { name: 'Open Profile' }).first().press('Enter');
  expect(posted.at(-1)).toEqual({ type: 'remedy', button: 0 });
  await page.getByRole('listitem').getByRole('button', { name: 'Fix on gpu5…' }).press('Enter');
  expect(posted.at(-1)).toEqual({ type: 'remedy', button: 1 });
  expect(commandsOf(buttonsOf({ nodes: nodes(32) }, many()))[1]).toEqual({
    ...{ row: 'clock', hosts: ['gpu5'], remedy: synchroniseClock },
  });
  await page.close();
});

test.each(['dark', 'light', 'high-contrast'] as const)('axe finds nothing in groups, %s', async (theme) => {
  for (const width of [300, 600, 1600]) {
    const { page } = await open(32, many(), { width, theme });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await findings({ page })).toEqual([]);
    await page.screenshot({ path: join(artifacts, `checks-groups-${theme}-${width}.png`), fullPage: true });
    await page.close();
  }
});

test.each([
  [{ kind: 'checking' }, 'Looking at every node…', 0],
  [{ kind: 'checking', deep: true }, 'Looking at every node, and measuring links, CPUs and free GPUs…', 0],
  [{ kind: 'failed', message: 'gpu1 <is> away.' }, 'gpu1 <is> away.', 2],
  [{ kind: 'forgotten' }, 'Not checked since this window was loaded.', 2],
] as const)('%j', async (state, words, buttons) => {
  const { page } = await open(1, state);
  expect(await page.getByRole('status').innerText()).toBe(words);
  expect(await page.getByRole('button').count()).toBe(buttons);
  await page.close();
});

test('a deep check is asked for on the page, and what it does now stands there', async () => {
  const { page, posted } = await open(3, done(3));
  await page.getByRole('button', { name: 'Deep Check' }).press('Enter');
  expect(posted.at(-1)).toEqual({ type: 'again', deep: true });
  await page.close();
  const busy = await open(3, { kind: 'checking', deep: true });
  await busy.page.evaluate(() => {
    window.postMessage({ type: 'doing', text: 'measuring the <CPUs>' }, '*');
  });
  await busy.page.getByText('measuring the <CPUs>', { exact: true }).waitFor();
  expect(await findings(busy)).toEqual([]);
  await busy.page.close();
  const deep = await open(3, done(3, true));
  expect(await deep.page.getByRole('status').innerText()).toContain('Checked deeply at');
  await deep.page.close();
});

test('nodes behind a batch system are not measured', async () => {
  const { page } = await open(1, done(1), { measurable: false });
  expect(await page.getByRole('button', { name: 'Check Again' }).count()).toBe(1);
  expect(await page.getByRole('button', { name: 'Deep Check' }).count()).toBe(0);
  await page.close();
});
