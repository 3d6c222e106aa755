// How the dashboard keeps up: 100 steps a second and 256 GPUs once a second, simulated, in a real
// browser.
//   node scripts/bench/dashboard.mjs [--seconds 15] [--history 500]
// The extension holds 2048 rows at most, which 500 before the measurement nearly fill. Prints JSON.
// CHROME_PATH names the browser. A machine without a GPU draws in software, which is slower than an
// editor.
/* global performance, requestAnimationFrame, PerformanceObserver */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { root } from '../lib/paths.mjs';
import { measureChain } from './support/dashboardChain.mjs';

/** @import { Browser, CDPSession, Page } from 'playwright-core' */

/**
 * What we use of test/webview.
 * @typedef {{ secondsPerStep: number }} RunOptions
 * @typedef {{
 *   lastStep: number,
 *   steps: { step: readonly number[] },
 *   run: (seconds: number) => void,
 *   update: () => unknown,
 * }} SimulatedRun
 * @typedef {{ page: Page, complaints: readonly string[], send: (update: unknown) => Promise<void> }} Dashboard
 * @typedef {{
 *   Dashboard: {
 *     open: (browser: Browser, run: SimulatedRun, size: { width: number }) => Promise<Dashboard>,
 *   },
 *   openBrowser: () => Promise<Browser>,
 *   SimulatedRun: new (options: RunOptions, start: number, every: number, seed: number) => SimulatedRun,
 *   simulated: { huge: RunOptions },
 * }} Harness
 */

/** @typedef {{ frames: number[], longTasks: number[] }} Measured */
/** @typedef {Awaited<ReturnType<typeof measureChain>>} Chain */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    history: { type: 'string', default: '500' },
  },
});
const seconds = Number(values.seconds);
const history = Number(values.history);

/** Updates a second, as the extension sends them. */
const updatesPerSecond = 10;

/**
 * The page's tests drive it with the same harness.
 * @returns {Promise<Harness>}
 */
async function loadHarness() {
  const outfile = join(root, 'test/artifacts/bench-harness.mjs');
  mkdirSync(join(root, 'test/artifacts'), { recursive: true });
  await build({
    stdin: {
      contents: `export * from './harness.js'; export * from './simulatedRun.js'; export * from './simulatedOptions.js';`,
      resolveDir: join(root, 'test/webview'),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile,
    absWorkingDir: root,
    logLevel: 'warning',
  });
  return import(pathToFileURL(outfile).href);
}

/** In the page: frame times and long tasks, until asked for. */
function startMeasuring() {
  /** @type {Measured} */
  const measured = { frames: [], longTasks: [] };
  Object.assign(globalThis, { measured });
  let last = performance.now();
  /** @param {number} now */
  const frame = (now) => {
    measured.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) measured.longTasks.push(duration);
  }).observe({ type: 'longtask' });
}

/** In the page: what startMeasuring() has measured. */
const measuredThere = () =>
  /** @type {{ measured: Measured }} */ (/** @type {unknown} */ (globalThis)).measured;

/**
 * @param {CDPSession} session
 * @returns {Promise<Record<string, number>>}
 */
async function metrics(session) {
  const { metrics: list } = await session.send('Performance.getMetrics');
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

/**
 * @param {readonly number[]} sorted
 * @param {number} share
 */
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
/** @param {number} time */
const sleepUntil = (time) => pause(Math.max(0, time - Date.now()));

async function measurePage() {
  const { Dashboard, openBrowser, SimulatedRun, simulated } = await loadHarness();
  const browser = await openBrowser();
  const passed = history * simulated.huge.secondsPerStep;
  const run = new SimulatedRun(simulated.huge, Date.now() / 1000 - passed, 1, 1);
  run.run(passed);
  const dashboard = await Dashboard.open(browser, run, { width: 1600 });
  const { page } = dashboard;
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.waitForTimeout(1500);
  await page.evaluate(startMeasuring);
  const before = await metrics(session);
  const began = Date.now();
  const stepsBefore = run.lastStep;
  for (let sent = 1; sent <= seconds * updatesPerSecond; sent++) {
    run.run(1 / updatesPerSecond);
    await dashboard.send(run.update());
    await sleepUntil(began + (sent * 1000) / updatesPerSecond);
  }
  const after = await metrics(session);
  const wall = (Date.now() - began) / 1000;
  const { frames, longTasks } = await page.evaluate(measuredThere);
  await page.waitForSelector(`#app[data-step="${run.lastStep}"]`, { timeout: 5000 });
  await browser.close();
  const sorted = frames.toSorted((a, b) => a - b);
  /** @param {string} name */
  const share = (name) => round((100 * ((after[name] ?? 0) - (before[name] ?? 0))) / wall);
  return {
    seconds: round(wall),
    stepsPerSecond: round((run.lastStep - stepsBefore) / wall),
    rowsHeld: run.steps.step.length,
    gpus: 256,
    frameMs: {
      median: round(at(sorted, 0.5)),
      p95: round(at(sorted, 0.95)),
      max: round(sorted.at(-1) ?? 0),
      count: frames.length,
    },
    longTasks: { count: longTasks.length, longestMs: round(Math.max(0, ...longTasks)) },
    mainThreadPercent: {
      all: share('TaskDuration'),
      script: share('ScriptDuration'),
      layout: share('LayoutDuration'),
      style: share('RecalcStyleDuration'),
    },
    complaints: dashboard.complaints,
  };
}

/**
 * A limit a line: what was measured, what it may be, and whether it is.
 * @param {Awaited<ReturnType<typeof measurePage>>} page
 * @param {Chain} chain
 */
function judge(page, { idle, quiet, busy }) {
  const busyShare = 100 * Math.max(0, busy.hostShare - idle);
  /** @type {[name: string, value: number, limit: number, unit: string][]} */
  const rows = [
    ['written to seen, 10 steps/s, median', quiet.latency.median, 250, 'ms'],
    ['written to seen, 100 steps/s, median', busy.latency.median, 250, 'ms'],
    ['extension host, 100 steps/s and 256 GPUs', busyShare, 5, '% of a core over idle'],
    ['frame, 100 steps/s and 256 GPUs, median', page.frameMs.median, 17, 'ms'],
  ];
  const lines = rows.map(
    ([name, value, limit, unit]) =>
      `${name.padEnd(42)} ${value.toFixed(1).padStart(7)} ${unit}, limit ${limit}${value > limit ? '  OVER' : ''}`,
  );
  return { lines, held: rows.every(([, value, limit]) => value <= limit) };
}

const page = await measurePage();
const chain = await measureChain(seconds);
process.stdout.write(`${JSON.stringify({ page, chain }, null, 2)}\n`);
const { lines, held } = judge(page, chain);
process.stdout.write(`${lines.join('\n')}\n`);
if (!held) process.exitCode = 1;
