// npm run bench:prediction [-- LINK…]: 1, 2, 4 and 8 ranks, one on each of as many hosts, over
// links of known rates and delays, measured by `trainyard report scaling` with real runs. Each
// point is then predicted from the other ones. Prints a row of docs/scaling.md for each link. Needs
// root, for the hosts are network namespaces, and quiet cores; the load before each link is printed
// beside it.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../build/prepare.mjs';
import { cache, root } from '../lib/paths.mjs';
import { main } from '../lib/shell.mjs';
import { startShapedHosts } from './support/shapedHosts.mjs';

/** @import { Shape } from './support/shapedHosts.mjs' */
/**
 * @typedef {{ replicas: number, measured: number, predicted: number, error: number }} LeftOut
 * @typedef {{ replicas: number, stepMs: { median: number }, commMs: { median: number }, allReduceMs: number | null }} Point
 * @typedef {{ points: Point[], report: { leftOut: LeftOut[] } }} Measured
 */

/** @type {readonly { name: string, shape: Shape }[]} */
const links = [
  { name: '1 Gbit/s', shape: { rate: '1gbit', burst: '128kb' } },
  { name: '10 Gbit/s', shape: { rate: '10gbit', burst: '512kb' } },
  { name: '0.2 ms', shape: { milliseconds: 0.2 } },
  { name: '2 ms', shape: { milliseconds: 2 } },
];
const ranks = '1,2,4,8';
const steps = process.env['BENCH_STEPS'] ?? '60';
/** Little to compute and 3.3 MB of gradients: links count, and cores as little as can be. */
const training = ['--model', 'mlp', '--data', 'synthetic', '--batch-size', '8', '--threads', '1'];
const reduction = ['--allreduce', 'ring'];
const wanted = process.argv.slice(2);

/**
 * @param {string} home
 * @param {string} out
 * @returns {Promise<Measured>}
 */
function measure(home, out) {
  const words = [
    ...[join(root, 'dist', 'trainyard.cjs'), 'report', 'scaling', 'shaped', '--weak', '--remove-runs'],
    ...['--replicas', ranks, '--steps', steps, '--out', out],
    ...['--', 'train', '--device', 'cpu', ...training, ...reduction],
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, TRAINYARD_HOME: home },
    });
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(readFileSync(join(out, 'scaling.json'), 'utf8')));
      else reject(new Error(`the report ended with exit ${code}: ${said}`));
    });
  });
}

/** @param {number} error */
const percent = (error) => `${error < 0 ? '' : '+'}${(100 * error).toFixed(1)}%`;

main(async () => {
  ensureBuilt();
  const runtime = join(cache, 'practice', 'practice-1', 'home', '.trainyard', 'runtime');
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  const chosen = links.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  if (chosen.length === 0) throw new Error(`links are: ${links.map(({ name }) => name).join(', ')}`);
  for (const { name, shape } of chosen) {
    const load = loadavg()[0]?.toFixed(1) ?? '';
    const hosts = await startShapedHosts({ hosts: 8, shape, runtime });
    try {
      const { points, report } = await measure(hosts.home, join(hosts.home, 'report'));
      const errors = report.leftOut.map(({ replicas, error }) => `${replicas}: ${percent(error)}`);
      process.stdout.write(`| ${name} | ${errors.join(', ')} |\n`);
      for (const { replicas, stepMs, commMs, allReduceMs } of points) {
        const alone = allReduceMs === null ? '' : `, an all-reduce alone ${allReduceMs.toFixed(2)} ms`;
        const step = `${stepMs.median.toFixed(2)} ms a step, of which ${commMs.median.toFixed(2)} ms waits`;
        process.stdout.write(`  ${replicas}: ${step}${alone}\n`);
      }
      process.stdout.write(`  load ${load} on ${cpus().length} cores\n`);
    } finally {
      await hosts.stop();
    }
  }
});
