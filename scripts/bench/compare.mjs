// How soon the page of a comparison is ready: 50 runs of 100,000 lines of metrics, read by a real
// agent, shown by a real browser. The page is open, as the editor opens it while runs are read.
//   node scripts/bench/compare.mjs [--runs 50] [--lines 100000]
// The first time the node reads every line. From then on the client reads what it kept of runs that
// are over. As in the editor the page shows runs while others are read. `ready` is when the last
// curve was painted. `frame` is the time from a pointer's move over rows or charts to the end of
// the drawing that follows. Prints JSON; times in seconds, those of a frame in milliseconds.
// CHROME_PATH names the browser.
/* global document, requestAnimationFrame, MessageChannel, MouseEvent, PointerEvent, window */
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { root } from '../lib/paths.mjs';
import { median } from './support/statistics.mjs';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '50' }, lines: { type: 'string', default: '100000' } },
});
const runs = Number(values.runs);
const lines = Number(values.lines);

/** @import { Page } from 'playwright-core' */

/**
 * What we use of the sources and of test/webview.
 * @typedef {{ profile: string, id: string, dir: string }} Named
 * @typedef {{
 *   openBrowser: () => Promise<{ close: () => Promise<void> }>,
 *   openComparison: (browser: unknown, update: unknown) => Promise<{ page: Page }>,
 *   Comparer: new (client: () => Promise<unknown>) => {
 *     readAll: (runs: Named[]) => AsyncGenerator<object>,
 *     update: (soFar: object, accuracy: undefined, time: number) => object,
 *   },
 *   AgentNode: new (transport: object) => { client: () => Promise<unknown>, dispose: () => void },
 *   openLocalAgent: (agent: string) => Promise<unknown>,
 * }} Parts
 */

/** @returns {Promise<Parts>} */
async function loadParts() {
  const outfile = join(root, 'test/artifacts/bench-compare.mjs');
  mkdirSync(join(root, 'test/artifacts'), { recursive: true });
  await build({
    stdin: {
      contents: `
        export * from './harness.js';
        export * from './compareHarness.js';
        export * from '../../src/ui/comparer.js';
        export * from '../../src/core/agent/agentNode.js';
        export * from '../../src/core/agent/localAgent.js';`,
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

/**
 * The lines have fields and digits as the trainer writes them.
 * @param {string} path
 */
function writeMetrics(path) {
  const base = { time: 1.79e9, generation: 1 };
  const start = {
    ...{ kind: 'start', ...base, batch_size: 64, class_names: [], classes: 285, device: 'cuda' },
    ...{ global_batch: 256, model: 'resnet50', parameters: 1, precision: 'bf16', resumed_from: null },
    ...{ steps_per_epoch: 160, total_steps: lines, train_images: 40930, world: 4 },
  };
  const text = [JSON.stringify(start)];
  for (let step = 1; step < lines; step++) {
    const time = 1.79e9 + step * 0.250123;
    const noise = Math.sin(step);
    text.push(
      step % 1000 === 0
        ? JSON.stringify({
            ...{ kind: 'eval', time, generation: 1, checkpoint: `step-${step}`, images: 1425, loss: 1 },
            ...{ seconds: 1.5, step, top1: 1 - 500 / (500 + step), top5: 0.9 },
          })
        : JSON.stringify({
            ...{ kind: 'step', time, generation: 1, comm_ms: 12.5 + noise, epoch: step / 160 },
            ...{ images_per_sec: 1024.5 + 20 * noise, input_wait_ms: 1.25 + 0.1 * noise },
            ...{ loss: 6 / Math.sqrt(step) + 0.01 * noise, lr: 0.1 / Math.sqrt(step), step },
            ...{ step_ms: 250.25 - 5 * noise, top1: (step % 256) / 256, world: 4 },
          }),
    );
  }
  writeFileSync(path, `${text.join('\n')}\n`);
}

/**
 * @param {string} dir
 * @param {string} id
 * @param {string} metrics
 */
function makeRun(dir, id, metrics) {
  mkdirSync(dir, { recursive: true });
  const none = '/nonexistent';
  writeFileSync(
    join(dir, 'run.json'),
    JSON.stringify({
      ...{ version: 1, id, created: 1.79e9, profile: { name: 'local', kind: 'local' }, program: 'trainer' },
      ...{ argv: ['train', '--seed', id], ranks: 4, gpus: [0, 1, 2, 3], threadsPerRank: 1, env: {} },
      ...{ evaluator: null, tensorboard: false, launcher: 'fork', totalSteps: null },
      paths: { trainer: none, mpiexec: none, agent: none, python: none, tensorboardServer: none },
      hashes: { trainer: '', agent: '', requirements: '' },
      limits: { hangTimeout: 300, startTimeout: 60, maxRestarts: 0 },
      price: { per: 'gpu', amount: 4.28, currency: 'USD' },
    }),
  );
  const end = 1.79e9 + lines * 0.25;
  writeFileSync(
    join(dir, 'state.json'),
    JSON.stringify({
      ...{ version: 1, phase: 'finished', generation: 1, world: 4, ranks: [], mpiexec: null },
      supervisor: { pid: 1, startTime: 1, bootId: 'b', host: 'h' },
      ...{ evaluator: null, started: 1.79e9, ended: end, exitCode: 0, reason: null, updated: end },
    }),
  );
  linkSync(metrics, join(dir, 'metrics.jsonl'));
}

const nothing = { runs: [], pending: runs, problems: [] };

/**
 * In the page: what the editor does with a message. Resolves when all runs are there and painted,
 * where they are; else at once.
 * @param {string} update in JSON, as it comes from the extension
 * @returns {Promise<void>}
 */
function show(update) {
  const message = JSON.parse(update);
  window.postMessage(message);
  if (message.pending > 0) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      const isShown = document.querySelector('#app')?.getAttribute('data-pending') === '0';
      if (isShown) requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
      else requestAnimationFrame(look);
    };
    look();
  });
}

/**
 * In the page: the pointer goes over rows of the table, and along a chart. Resolves with the
 * milliseconds of each move: of the page's work, and of the frame that follows.
 * @returns {Promise<{ work: number[], frame: number[] }>}
 */
async function moveAbout() {
  /** @returns {Promise<number>} */
  const frameEnd = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve(performance.now());
        channel.port2.postMessage(0);
      });
    });
  /** @type {{ work: number[], frame: number[] }} */
  const times = { work: [], frame: [] };
  /** @param {() => void} act */
  const measure = async (act) => {
    await frameEnd();
    const begun = performance.now();
    act();
    await new Promise((resolve) => {
      setTimeout(resolve);
    });
    times.work.push(performance.now() - begun);
    times.frame.push((await frameEnd()) - begun);
  };
  const rows = [...document.querySelectorAll('.runs tbody tr')].slice(0, 30);
  for (const row of rows) await measure(() => row.dispatchEvent(new PointerEvent('pointerenter')));
  const over = document.querySelector('.u-over');
  if (over) {
    const { left, top, width } = over.getBoundingClientRect();
    over.dispatchEvent(new MouseEvent('mouseenter'));
    for (let at = 0; at < 30; at++) {
      const place = { clientX: left + (width * (at + 1)) / 32, clientY: top + 20, bubbles: true };
      await measure(() => over.dispatchEvent(new MouseEvent('mousemove', place)));
    }
  }
  return times;
}

const folder = mkdtempSync(join(tmpdir(), 'ty-compare-'));
process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
const parts = await loadParts();
const browser = await parts.openBrowser();
const node = new parts.AgentNode({ open: () => parts.openLocalAgent(join(root, 'dist/bin/agent')) });
try {
  const metrics = join(folder, 'metrics.jsonl');
  writeMetrics(metrics);
  const named = Array.from({ length: runs }, (_, at) => {
    const id = `20261124-0000${String(at).padStart(2, '0')}-bench-0000`;
    const dir = join(folder, 'runs', id);
    makeRun(dir, id, metrics);
    return { profile: 'local', id, dir };
  });
  await node.client();
  /** From the request for the first run until the page has painted all. */
  const ready = async () => {
    const comparer = new parts.Comparer(() => node.client());
    const { page } = await parts.openComparison(browser, comparer.update(nothing, undefined, 1.79e9));
    const begun = performance.now();
    let readAt = begun;
    let bytes = 0;
    for await (const soFar of comparer.readAll(named)) {
      readAt = performance.now();
      const text = JSON.stringify(comparer.update(soFar, undefined, 1.79e9));
      bytes = text.length;
      await page.evaluate(show, text);
    }
    const end = performance.now();
    const { work, frame } = await page.evaluate(moveAbout);
    await page.close();
    const seconds = (/** @type {number} */ value) => Math.round(value) / 1000;
    const tenths = (/** @type {number} */ value) => Math.round(value * 10) / 10;
    return {
      read: seconds(readAt - begun),
      ready: seconds(end - begun),
      megabytes: Math.round(bytes / 1e5) / 10,
      work: { median: tenths(median(work)), worst: tenths(Math.max(...work)) },
      frame: { median: tenths(median(frame)), worst: tenths(Math.max(...frame)) },
    };
  };
  const first = await ready();
  const again = await ready();
  console.log(JSON.stringify({ runs, lines, first, again }));
} finally {
  node.dispose();
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
