// The page of a comparison in a real browser: sorting, filter, curves, exports, and what axe finds.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ComparedRun } from '../../src/core/compare/comparedRun.js';
import { Comparer, type ReadSoFar } from '../../src/ui/comparer.js';
import type { ComparisonUpdate } from '../../src/webview/protocol.js';
import { compared, madeEntry, trainingLines } from '../unit/support/madeRuns.js';
import { openComparison, type Opened, type Look } from './compareHarness.js';
import { findings } from './findings.js';
import { openBrowser } from './harness.js';

const artifacts = join(import.meta.dirname, '../artifacts');
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

const open = (update: ComparisonUpdate, look: Look = {}): Promise<Opened> =>
  openComparison(browser, update, look);

const comparer = new Comparer(() => Promise.reject(new Error('nothing is read here')));
const price = { per: 'gpu', amount: 4.28, currency: 'USD' } as const;

/** Each run has a larger batch than the one before, is faster, and a bit better. */
function made(at: number): ComparedRun {
  const gpus = at === 0 ? 1 : 4;
  const laterEpochs = 121 / (1 + 0.9 * at);
  const firstEpoch = laterEpochs * 1.5;
  const argv = ['train', '--model', 'resnet50', '--learning-rate', String(0.02 / (1 + (at % 3)))];
  const id = `20261124-1010${String(at).padStart(2, '0')}-birds-${at}`;
  const about = { name: '', tags: at % 2 === 0 ? ['even'] : [], notes: '' };
  const entry = madeEntry({ id, argv, gpus, price, seconds: firstEpoch + 49 * laterEpochs });
  const batch = 64 * (1 + at);
  const top1 = 0.8 + 0.15 * Math.sin(at + 1);
  return compared(
    { ...entry, about },
    trainingLines({ images: 40_930, batch, epochs: 50, firstEpoch, laterEpochs, top1 }),
  );
}

const updateOf = (
  count: number,
  { accuracy, ...more }: Partial<ReadSoFar> & { accuracy?: number } = {},
): ComparisonUpdate => {
  const runs = Array.from({ length: count }, (_, at) => made(at));
  return comparer.update({ runs, pending: 0, problems: [], ...more }, accuracy, 1_795_000_000);
};

const names = (page: Page): Promise<string[]> => page.locator('.runs tbody th .link').allInnerTexts();

test('columns sort, best values are marked, and the choice stays over a reload', async () => {
  const { page, posted, complaints, send } = await open(updateOf(4));
  expect(await names(page)).toEqual(['birds-0', 'birds-1', 'birds-2', 'birds-3']);
  const cost = page.getByRole('columnheader', { name: 'price so far' });
  await cost.getByRole('button').click();
  // Of an epoch: 1 GPU x 121 s; 4 GPUs x 63.7, 43.2 and 32.7 s.
  expect(await names(page)).toEqual(['birds-0', 'birds-3', 'birds-2', 'birds-1']);
  expect(await cost.getAttribute('aria-sort')).toBe('ascending');
  await cost.getByRole('button').press('Enter');
  expect(await names(page)).toEqual(['birds-1', 'birds-2', 'birds-3', 'birds-0']);
  const best = page.locator('.runs tbody tr').last().locator('.best');
  expect((await best.allInnerTexts()).join(' ')).toContain('USD');
  await page.reload();
  await send(updateOf(4));
  expect(await names(page)).toEqual(['birds-1', 'birds-2', 'birds-3', 'birds-0']);
  await page.getByRole('button', { name: 'birds-2' }).click();
  expect(posted.at(-1)).toEqual({ type: 'open', row: 2 });
  expect(complaints).toEqual([]);
  await page.close();
});

test('the filter looks at names and settings, and charts follow it', async () => {
  const { page, posted } = await open(updateOf(8));
  await page.getByRole('textbox', { name: 'Filter runs' }).fill('learning-rate=0.02 birds');
  expect(await names(page)).toEqual(['birds-0', 'birds-3', 'birds-6']);
  expect(await page.getByRole('status').innerText()).toMatch(/^3 of 8 shown, as they were at/);
  expect(await page.locator('.card').first().locator('.legend li').count()).toBe(3);
  await page.getByRole('button', { name: 'Export Table' }).press('Enter');
  await page.getByRole('menuitem', { name: 'As CSV…' }).press('Enter');
  expect(posted.at(-1)).toEqual({ type: 'export', form: 'csv', rows: [0, 3, 6] });
  await page.getByRole('textbox', { name: 'Filter runs' }).fill('#even');
  expect(await names(page)).toEqual(['birds-0', 'birds-2', 'birds-4', 'birds-6']);
  await page.getByRole('textbox', { name: 'Filter runs' }).fill('no such run');
  expect(await page.getByText('No run matches the filter.').isVisible()).toBe(true);
  await page.close();
});

test('curves stand over steps, epochs or hours, have tables, and can be left out', async () => {
  const { page } = await open(updateOf(3));
  const card = page.locator('.card').first();
  expect(await card.getByRole('heading').innerText()).toBe('Loss of training');
  await card.getByRole('button', { name: 'Table' }).click();
  expect(await card.locator('thead th').allInnerTexts()).toEqual(['epochs', 'birds-0', 'birds-1', 'birds-2']);
  const hours = page.getByRole('button', { name: 'hours of run time' });
  expect(await hours.getAttribute('title')).toContain('between a stop and a resume is left out');
  await hours.click();
  expect(await card.locator('thead th').first().innerText()).toBe('hours of run time');
  await page.getByRole('checkbox', { name: 'Draw birds-1' }).uncheck();
  expect(await card.locator('thead th').allInnerTexts()).toEqual(['hours of run time', 'birds-0', 'birds-2']);
  await card.getByRole('button', { name: 'Table' }).click();
  const plot = card.locator('.plot');
  await plot.focus();
  await plot.press('Shift+ArrowRight');
  await expect.poll(() => card.locator('.at').innerText()).toMatch(/^\d/);
  await plot.press('Escape');
  await expect.poll(() => card.locator('.at').innerText()).toBe('last');
  await page.close();
});

test('a chart is saved as SVG and as PNG, with title and names', async () => {
  const { page, posted, complaints } = await open(updateOf(3));
  const save = page.getByRole('button', { name: 'Save the chart Top-1 of evaluations' });
  await save.click();
  await page.getByRole('menuitem', { name: 'Save as SVG…' }).click();
  const svg = posted.at(-1);
  expect(svg).toMatchObject({ type: 'save', form: 'svg', name: 'top-1' });
  const text = svg?.type === 'save' ? svg.data : '';
  expect(text).toMatch(/^<svg xmlns/);
  expect(text.match(/<path d="M[^"]+L/g)).toHaveLength(3);
  for (const word of ['Top-1 of evaluations', 'birds-2', 'epochs']) expect(text).toContain(word);
  await save.click();
  await page.getByRole('menuitem', { name: 'Save as PNG…' }).click();
  await expect.poll(() => posted.at(-1)).toMatchObject({ type: 'save', form: 'png' });
  const png = posted.at(-1);
  const bytes = Buffer.from(png?.type === 'save' ? png.data : '', 'base64');
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  expect(bytes.readUInt32BE(16)).toBe(1920); // its width
  mkdirSync(artifacts, { recursive: true });
  writeFileSync(join(artifacts, 'compare-chart.png'), bytes);
  expect(complaints).toEqual([]);
  await page.close();
});

test('another accuracy is asked of the extension; what is not read is said', async () => {
  const { page, posted, send } = await open(updateOf(2, { pending: 3 }));
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('5 runs compared');
  expect(await page.getByRole('status').innerText()).toBe('3 runs still to be read…');
  const box = page.getByRole('spinbutton');
  await box.fill('75.5');
  await box.press('Enter');
  expect(posted.at(-1)).toEqual({ type: 'accuracy', fraction: 0.755 });
  await send(updateOf(2, { accuracy: 0.755, problems: ['x <of> lab could not be read: away'] }));
  expect(await page.locator('.problem').innerText()).toBe('x <of> lab could not be read: away');
  expect(await page.getByRole('columnheader', { name: 'price to 75.5%' }).isVisible()).toBe(true);
  const asked = page.locator('label.accuracy');
  expect(await asked.innerText()).toContain('Price to top-1 of');
  const update = updateOf(2);
  await send({ ...update, columns: update.columns.filter(({ key }) => !key.includes('cost')) });
  expect(await asked.innerText()).toContain('Time to top-1 of');
  await page.close();
});

// Colours do not depend on the width.
test.each([
  ['dark', [400, 1280]],
  ['light', [400]],
  ['high-contrast', [1280]],
  ['high-contrast-light', [400]],
] as const)('axe finds nothing, %s', async (theme, widths) => {
  for (const width of widths) {
    const { page } = await open(updateOf(8), { width, theme });
    await page.getByRole('button', { name: 'Table' }).first().click();
    expect(await findings({ page })).toEqual([]);
    await page.close();
  }
});

test.each([400, 800, 1280, 1600])('nothing is wider than a window of %i px', async (width) => {
  for (const theme of ['dark', 'light'] as const) {
    const { page } = await open(updateOf(4), { width, theme });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(artifacts, `compare-${theme}-${width}.png`) });
    await page.close();
  }
});
