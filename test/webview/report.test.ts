// A report in its tab and alone, in a real browser: whose colours it has, and what axe finds.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bakeOffHtml } from '../../src/core/bakeoff/pages.js';
import { untried, withWinner } from '../../src/core/bakeoff/result.js';
import { newStudy } from '../../src/core/measure/scalingFolder.js';
import { scalingHtml } from '../../src/core/scaling/html.js';
import { palettes } from '../../src/core/scaling/palettes.js';
import { reportOf } from '../../src/core/scaling/report.js';
import type { StudyPoint } from '../../src/core/scaling/study.js';
import { reportPage } from '../../src/ui/panels/reportPage.js';
import { madePoint } from '../unit/core/scaling/made.js';
import { findings } from './findings.js';
import { openBrowser } from './harness.js';
import { bodyClass, themeStyle, type Theme } from './themes.js';

const artifacts = join(import.meta.dirname, '../artifacts');
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
  mkdirSync(artifacts, { recursive: true });
});
afterAll(async () => {
  await browser.close();
});

const words = ['train', '--model', 'resnet20', '--data', 'images/train'];
const point = (made: Parameters<typeof madePoint>[0]): StudyPoint => ({
  ...madePoint(made),
  run: `run-${made.replicas ?? 1}`,
  command: `trainyard run lab --ranks ${made.replicas ?? 1} -- ${words.join(' ')}`,
});
const exported = scalingHtml(
  reportOf({
    ...newStudy('lab', words, 30, 1_795_000_000),
    ...{ model: 'resnet20', device: 'cpu', allReduce: 'ring', currency: 'EUR' },
    points: [
      point({ replicas: 1, perHour: 3.6 }),
      point({ replicas: 2, hosts: 2, step: 110, comm: 10, allReduceMs: 10, perHour: 7.2 }),
      point({ replicas: 4, hosts: 4, step: 180, comm: 80, allReduceMs: 80, perHour: 14.4 }),
    ],
  }),
);
const place = { title: 'Scaling of lab', folder: 'scaling-lab', file: 'scaling.html' };

interface Look {
  width: number;
  /** Of the system. */
  system: 'dark' | 'light';
  /** Of the editor; without it the file is opened alone. */
  theme?: Theme;
  /** The scaling report where it is left out. */
  html?: string;
}

async function open({
  width,
  system,
  theme,
  html = exported,
}: Look): Promise<{ page: Page; kept: unknown[] }> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: system });
  const kept: unknown[] = [];
  await page.exposeFunction('keepInTest', (state: unknown) => kept.push(state));
  await page.addInitScript(() => {
    const scope = window as unknown as Record<string, (message: unknown) => unknown>;
    scope['acquireVsCodeApi'] = () => ({ setState: (state: unknown) => scope['keepInTest']?.(state) });
  });
  const body =
    theme === undefined
      ? html
      : reportPage(html, place, 'test')
          .replace('<html lang="en">', `<html lang="en" style='${themeStyle(theme)}'>`)
          .replace('<body>', `<body class="${bodyClass(theme)}">`);
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto('http://report.test/');
  return { page, kept };
}

const flags = ['--threads', '2', '--allreduce', 'hierarchical', '--bucket-size', '0.25'];
const candidate = (ranks: number, rates: number[], why: string): ReturnType<typeof untried> => ({
  ...untried({ ranks, flags }, `trainyard run lab --ranks ${ranks} -- ${words.join(' ')} ${flags.join(' ')}`),
  ...{ rates, why, outcome: rates.length === 0 ? 'failed' : 'dropped' },
  runs: rates.map((rate) => ({
    ...{ round: 1, steps: 9, seconds: 5, run: `run-${ranks}` },
    imagesPerSec: { median: rate, low: rate, high: rate },
  })),
});
const failure =
  'run bake-off-1f2e failed: rank 3 on practice-2 ended with exit status 4, out of memory: a batch of 512 needs 3.1 GB. Its folder is /home/ada/.local/share/trainyard/runs/2026-11-26/bake-off-1f2e';
const bakeOff = bakeOffHtml(
  withWinner({
    ...{ version: 1, profile: 'lab', words, created: 1_795_000_000, budget: 600, spent: 120 },
    ...{ model: 'resnet20', device: 'cpu', leftOut: [], rounds: [], running: null, cancelled: false },
    candidates: [
      candidate(1, [100], 'It was 50.0% slower than the best of its round.'),
      candidate(2, [200], ''),
      candidate(4, [], failure),
    ],
  }),
);

test.each([
  ['scaling', exported],
  ['bakeoff', bakeOff],
])('no table of the %s report is wider than the tab', async (name, html) => {
  for (const width of [1000, 1260, 1600]) {
    const { page } = await open({ width, theme: 'dark', system: 'dark', html });
    const boxes = page.locator('.scroll');
    expect(await boxes.count()).toBeGreaterThan(1);
    const over = await boxes.evaluateAll((all) => all.map((box) => box.scrollWidth - box.clientWidth));
    expect(Math.max(...over)).toBe(0);
    await page.screenshot({ path: join(artifacts, `report-${name}-${width}.png`), fullPage: true });
    await page.close();
  }
  const { page } = await open({ width: 400, theme: 'dark', system: 'dark', html });
  expect(await findings({ page })).toEqual([]);
  // On a narrow screen a table scrolls inside its box.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400);
  await page.close();
});

interface Colors {
  /** Of the page, in rgb, and as its style names it. */
  back: string;
  backName: string;
  /** Of the editor. */
  editor: string;
  bar: string;
}

const colorsOf = (page: Page): Promise<Colors> =>
  page.evaluate(() => {
    const style = getComputedStyle(document.body);
    const named = (name: string): string => style.getPropertyValue(name).trim();
    const editor = named('--vscode-editor-background');
    return { back: style.backgroundColor, backName: named('--back'), editor, bar: named('--compute') };
  });

test.each(['dark', 'light', 'high-contrast', 'high-contrast-light'] as const)(
  'the tab is as the editor is, whatever the system is: %s',
  async (theme) => {
    const isDark = theme === 'dark' || theme === 'high-contrast';
    for (const width of [400, 1280]) {
      const { page, kept } = await open({ width, theme, system: isDark ? 'light' : 'dark' });
      const { back, bar, backName, editor } = await colorsOf(page);
      expect(backName).toBe(editor);
      const [red = 0] = /\d+/.exec(back)?.map(Number) ?? [];
      expect(red < 128).toBe(isDark);
      expect(bar).toBe(palettes[isDark ? 'dark' : 'light'].compute);
      await expect.poll(() => kept).toEqual([place]);
      expect(await findings({ page })).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await page.screenshot({ path: join(artifacts, `report-${theme}-${width}.png`), fullPage: true });
      await page.close();
    }
  },
);

test.each(['dark', 'light'] as const)('the file alone is as the system is: %s', async (system) => {
  for (const width of [400, 1280]) {
    const { page } = await open({ width, system });
    expect((await colorsOf(page)).bar).toBe(palettes[system].compute);
    expect(await findings({ page })).toEqual([]);
    await page.screenshot({ path: join(artifacts, `report-alone-${system}-${width}.png`), fullPage: true });
    await page.close();
  }
});
