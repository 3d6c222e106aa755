// Charts of the dashboard that are saved: as images, and as the figures in them. The runs are
// simulated.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { SavedChart } from '../../src/webview/protocol.js';
import { Dashboard, openBrowser } from './harness.js';
import { simulated } from './simulatedOptions.js';
import { SimulatedRun } from './simulatedRun.js';

const artifacts = join(import.meta.dirname, '../artifacts');
let browser: Browser;
let open: Dashboard | undefined;
beforeAll(async () => {
  browser = await openBrowser();
  mkdirSync(artifacts, { recursive: true });
});
afterAll(() => browser.close());
afterEach(async () => {
  await open?.page.close();
  expect(open?.complaints ?? []).toEqual([]);
  open = undefined;
});

async function show(run: SimulatedRun): Promise<Dashboard> {
  open = await Dashboard.open(browser, run);
  return open;
}

/** What the page asks to save after a click in the menu of this chart. */
async function saved({ page, posted }: Dashboard, chart: string, form: string): Promise<SavedChart> {
  const before = posted.length;
  await page.getByRole('button', { name: `Save the chart ${chart}`, exact: true }).click();
  await page.getByRole('menuitem', { name: `Save as ${form}…` }).click();
  const found = (): SavedChart | undefined => posted.slice(before).find((message) => message.type === 'save');
  await expect.poll(found).toBeDefined();
  return found()!;
}

function trained(): SimulatedRun {
  const run = new SimulatedRun(simulated.local, Date.now() / 1000 - 900, 1, 1);
  run.run(900);
  return run;
}

test('the loss as CSV has every step and evaluation, with all digits', async () => {
  const run = trained();
  const { form, name, data } = await saved(await show(run), 'Loss', 'CSV');
  expect({ form, name }).toEqual({ form: 'csv', name: 'loss' });
  const [head, ...rows] = data
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  expect(head).toEqual(['seconds', 'step', 'epoch', 'train', 'eval']);
  const steps = rows.filter(([, , epoch]) => epoch !== '');
  expect(steps.map(([, step]) => Number(step))).toEqual(run.steps.step);
  expect(steps.map(([, , , loss]) => Number(loss))).toEqual(run.steps.loss);
  const evaluated = rows
    .filter(([, , epoch]) => epoch === '')
    .map(([, step, , , loss]) => [Number(step), Number(loss)]);
  expect(evaluated).toEqual(run.evaluations.map(({ step, loss }) => [step, loss]));
  const seconds = rows.map(([at]) => Number(at));
  expect(seconds).toEqual([...seconds].sort((a, b) => a - b));
});

test('the loss as SVG, smoothed, with a logarithmic axis, as PNG too', async () => {
  const dashboard = await show(trained());
  await dashboard.page.getByRole('button', { name: 'log', exact: true }).click();
  const { data } = await saved(dashboard, 'Loss', 'SVG');
  writeFileSync(join(artifacts, 'save-loss.svg'), data);
  for (const text of ['Loss', 'train', 'eval', 'run time']) expect(data).toContain(`>${text}</t`);
  const heights = [...data.matchAll(/ y="([\d.]+)" text-anchor="end">[\d.]+</g)].map(([, y]) => Number(y));
  const gaps = heights.slice(1).map((y, index) => (heights[index] ?? 0) - y);
  expect(gaps.length).toBeGreaterThan(1);
  expect(Math.max(...gaps) - Math.min(...gaps)).toBeGreaterThan(3); // they are not evenly spaced
  expect(data).toContain('stroke-opacity="0.6"'); // what was measured, behind the smoothed line
  const png = await saved(dashboard, 'Loss', 'PNG');
  const bytes = Buffer.from(png.data, 'base64');
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  writeFileSync(join(artifacts, 'save-loss.png'), bytes);
});

test('the layers of the step time are filled, the highest behind', async () => {
  const dashboard = await show(trained());
  const { data } = await saved(dashboard, 'Step time', 'SVG');
  expect(data.match(/stroke="none" fill="/g)).toHaveLength(3);
  const names = [...data.matchAll(/>(compute|comm|input wait)<\/text>/g)].map(([, name]) => name);
  expect(names).toEqual(['input wait', 'comm', 'compute']);
  const png = await saved(dashboard, 'Step time', 'PNG');
  writeFileSync(join(artifacts, 'save-steptime.png'), Buffer.from(png.data, 'base64'));
});

test("an own program's figure, by its writers", async () => {
  const run = new SimulatedRun(simulated.command, Date.now() / 1000 - 30, 1, 2);
  for (let step = 1; step <= 30; step++) {
    run.run(1);
    for (const writer of ['rank, 0', 'rank, 1']) run.report('train/loss', writer, step, 1 / step);
  }
  const dashboard = await show(run);
  const { data } = await saved(dashboard, 'train/loss', 'CSV');
  const lines = data.trimEnd().split('\n');
  expect(lines[0]).toBe('writer,seconds,step,value,min,max');
  expect(lines).toHaveLength(61);
  expect(lines[60]).toMatch(/^"rank, 1",[\d.]+,30,0\.0333\d+,0\.0333\d+,0\.0333\d+$/);
  const svg = await saved(dashboard, 'train/loss', 'SVG');
  expect(svg.data.match(/<path d="M[^"]+L/g)).toHaveLength(2);
});
