// How soon the page of a comparison is ready: 50 runs of 100,000 lines of metrics, read by a real
// agent, shown by a real browser. The page is open, as the editor opens it while runs are read.
//   node scripts/bench/compare.mjs [--runs 50] [--lines 100000]
// The first time the node reads every line, one run ahead of the page, as in the editor. From then on
// the client reads what it kept of runs that are over. Prints JSON; times in seconds. CHROME_PATH
// names the browser.
/* global document, MutationObserver, requestAnimationFrame, window */
import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { root } from '../lib/paths.mjs';

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
 *     read: (run: Named) => Promise<unknown>,
 *     update: (soFar: object, time: number) => object,
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

/** @param {string} path */
function writeMetrics(path) {
  const base = { time: 1.79e9, generation: 1 };
  const start = {
    ...{ kind: 'start', ...base, model: 'resnet50', parameters: 1, classes: 285, class_names: [] },
    ...{ train_images: 40930, world: 4, batch_size: 64, global_batch: 256, steps_per_epoch: 160 },
    ...{ total_steps: lines, resumed_from: null, precision: 'bf16', device: 'cuda' },
  };
  const text = [JSON.stringify(start)];
  for (let step = 1; step < lines; step++) {
    const time = 1.79e9 + step * 0.25;
    text.push(
      step % 1000 === 0
        ? JSON.stringify({
            ...{ kind: 'eval', time, generation: 1, step, top1: 1 - 500 / (500 + step), top5: 0.9, loss: 1 },
            ...{ images: 1425, checkpoint: `step-${step}`, seconds: 1.5 },
          })
        : JSON.stringify({
            ...{ kind: 'step', time, generation: 1, step, epoch: step / 160, loss: 6 / Math.sqrt(step) },
            ...{ top1: 0.5, lr: 0.1, images_per_sec: 1024.5, step_ms: 250.25, comm_ms: 12.5 },
            ...{ input_wait_ms: 1.25, world: 4 },
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

const nothing = { runs: [], accuracy: undefined, pending: runs, problems: [] };

/**
 * In the page: resolves when it has painted what it is sent.
 * @param {object} update
 * @returns {Promise<void>}
 */
function showAndPaint(update) {
  return new Promise((resolve) => {
    new MutationObserver(() => {
      requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
    }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-pending'] });
    window.postMessage(update);
  });
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
  /** From the request for the first run until the page has drawn all. */
  const ready = async () => {
    const comparer = new parts.Comparer(() => node.client());
    const { page } = await parts.openComparison(browser, comparer.update(nothing, 1.79e9));
    const begun = performance.now();
    const read = [];
    let next = named[0] && comparer.read(named[0]);
    for (const at of named.keys()) {
      const current = next;
      const following = named[at + 1];
      next = following && comparer.read(following);
      read.push(await current);
    }
    const readAt = performance.now();
    const update = comparer.update({ runs: read, accuracy: undefined, pending: 0, problems: [] }, 1.79e9);
    const sent = performance.now();
    await page.evaluate(showAndPaint, update);
    const end = performance.now();
    await page.close();
    const seconds = (/** @type {number} */ value) => Math.round(value) / 1000;
    return {
      read: seconds(readAt - begun),
      compare: seconds(sent - readAt),
      page: seconds(end - sent),
      all: seconds(end - begun),
      megabytes: Math.round(JSON.stringify(update).length / 1e5) / 10,
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
