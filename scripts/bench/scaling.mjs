// npm run bench:scaling: two ranks against one, one core each, beside the ceiling that the same
// machine sets in the same minutes: two processes that do not communicate. Prints medians and
// ratios; fails below 0.9 of the ceiling.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { toolchainLink } from '../lib/paths.mjs';
import { ensureBuilt } from '../build/prepare.mjs';
import { main, has } from '../lib/shell.mjs';
import { trainer } from '../demo/data.mjs';
import { median } from './support/statistics.mjs';

/** @typedef {{ images_per_sec: number, comm_ms: number, step_ms: number }} Result */

const rounds = 5;
const bench = [
  'bench',
  'step',
  '--model',
  'resnet20',
  '--batch-size',
  '32',
  '--threads',
  '1',
  '--seconds',
  process.env['BENCH_SECONDS'] ?? '8',
];
const mpi = { MPIR_CVAR_POLLS_BEFORE_YIELD: '1', MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM: 'mpir' };

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @returns {Promise<Result>}
 */
function measure(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, OMP_NUM_THREADS: '1', ...mpi },
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${command} ended with exit ${code}`)),
    );
  });
}

/** @param {number} core */
const alone = (core) => measure('taskset', ['-c', String(core), trainer, ...bench, '--comm', 'none']);
const together = () =>
  measure(join(toolchainLink, 'venv', 'bin', 'mpiexec'), [
    '-launcher',
    'fork',
    '-bind-to',
    'core',
    '-n',
    '2',
    trainer,
    ...bench,
  ]);

main(async () => {
  if (availableParallelism() < 2) throw new Error('this benchmark needs two cores');
  if (!has('taskset'))
    throw new Error('taskset is missing. Install it with: sudo apt-get install util-linux');
  ensureBuilt();
  /** @typedef {{ one: number, ceiling: number, two: number }} Row */
  /** @type {Row[]} */
  const rows = [];
  for (let round = 0; round < rounds; ++round) {
    const one = (await alone(0)).images_per_sec;
    const ceiling = (await Promise.all([alone(0), alone(1)])).reduce(
      (sum, result) => sum + result.images_per_sec,
      0,
    );
    const two = await together();
    rows.push({ one, ceiling, two: two.images_per_sec });
    process.stdout.write(
      `round ${round + 1}: one ${one.toFixed(1)}, two apart ${ceiling.toFixed(1)}, two together ${two.images_per_sec.toFixed(1)} images/s (all-reduce wait ${two.comm_ms.toFixed(2)} of ${two.step_ms.toFixed(1)} ms)\n`,
    );
  }
  /** @param {(row: Row) => number} pick */
  const of = (pick) => median(rows.map(pick));
  const ratio = of((row) => row.two / row.ceiling);
  process.stdout.write(
    `median of ${rounds}: one ${of((row) => row.one).toFixed(1)}, two apart ${of((row) => row.ceiling).toFixed(1)}, two together ${of((row) => row.two).toFixed(1)} images/s\n`,
  );
  process.stdout.write(
    `two ranks: ${of((row) => row.two / row.one).toFixed(3)} of one rank's rate; ${ratio.toFixed(3)} of the ceiling (gate 0.9, aim 0.95)\n`,
  );
  if (ratio < 0.9) process.exitCode = 1;
});
