// npm run bench:cpu: our training step on the CPU beside PyTorch's at its best of eager and
// torch.compile, interleaved: images/s, peak memory, and what comes before the first step. Exit 1
// when a gate does not hold.
import { spawn } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { trainer } from '../demo/data.mjs';
import { root } from '../lib/paths.mjs';
import { ensureBuilt } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';
import { median } from './support/statistics.mjs';
import { torchPython } from './support/torch.mjs';

/**
 * Images a second, bytes, seconds, seconds.
 * @typedef {{ rate: number, memory: number, start: number, cpu: number }} Figures
 * @typedef {{
 *   model: string,
 *   modes: string[],
 *   rounds: number,
 *   steps: string,
 *   batch: string,
 *   threads: string,
 * }} Options
 */

const help = `npm run bench:cpu -- [--torch VENV] [--precision fp32,bf16] [--modes eager,compile] [--rounds 5] [--steps 3]
                     [--model resnet50] [--batch-size 16] [--threads N]
PyTorch is installed into the user's cache (about 5 GB) unless --torch names a virtual environment that has it.`;
const gates = { fp32: 1.1, bf16: 1.3, memory: 0.8, start: 0.2 };

/**
 * Runs one program. Its figures, with `start`: seconds from its start to the end of its first step,
 * less a steady one.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} threads
 * @returns {Promise<Figures>}
 */
function measure(command, args, threads) {
  return new Promise((resolve, reject) => {
    const began = Date.now() / 1000;
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, OMP_NUM_THREADS: String(threads) },
    });
    let text = '';
    let complaint = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (complaint += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) return reject(new Error(`${command} ended with exit ${code}: ${complaint.trim()}`));
      const said = JSON.parse(text.trim().split('\n').at(-1) ?? '');
      const start = said.first_step_at - began - said.step_ms / 1000;
      return resolve({ rate: said.images_per_sec, memory: said.peak_bytes, start, cpu: said.cpu_ms / 1000 });
    });
  });
}

/** @param {Figures} all */
const figures = ({ rate, memory, start, cpu }) =>
  `${rate.toFixed(2)} images/s, ${(memory / 1e6).toFixed(0)} MB, ${start.toFixed(1)} s to start, ${cpu.toFixed(2)} CPU s a step`;

/**
 * The medians of some rounds.
 * @param {readonly Figures[]} rounds
 * @returns {Figures}
 */
const middle = (rounds) => ({
  rate: median(rounds.map(({ rate }) => rate)),
  memory: median(rounds.map(({ memory }) => memory)),
  start: median(rounds.map(({ start }) => start)),
  cpu: median(rounds.map(({ cpu }) => cpu)),
});

/**
 * Prints a ratio beside its gate. Returns whether it holds.
 * @param {string} what
 * @param {number} ratio
 * @param {number} gate
 * @param {boolean} atLeast
 */
function judge(what, ratio, gate, atLeast) {
  const holds = atLeast ? ratio >= gate : ratio <= gate;
  const word = atLeast ? 'at least' : 'at most';
  process.stdout.write(
    `  ${what}: ${ratio.toFixed(3)} (${word} ${gate}) ${holds ? 'holds' : 'DOES NOT HOLD'}\n`,
  );
  return holds;
}

/**
 * @param {'fp32' | 'bf16'} precision
 * @param {string} python
 * @param {Options} options
 */
async function compare(precision, python, options) {
  const { model, modes, rounds, steps, batch, threads } = options;
  const shared = ['--model', model, '--precision', precision, '--batch-size', batch, '--threads', threads];
  const measured = [...shared, '--steps', steps, '--warmup', '1'].map(String);
  const synthetic = ['bench', 'step', '--comm', 'none', '--data', 'synthetic:1000x224'];
  /** @type {Figures[]} */
  const ownRounds = [];
  const own = {
    name: 'trainyard',
    run: () => measure(trainer, [...synthetic, ...measured], threads),
    rounds: ownRounds,
  };
  const others = modes.map((mode) => {
    const script = [join(root, 'scripts/bench/support/torch_step.py'), '--device', 'cpu', '--mode', mode];
    /** @type {Figures[]} */
    const ofMode = [];
    const run = () => measure(python, [...script, ...measured], threads);
    return { name: `PyTorch ${mode}`, run, rounds: ofMode };
  });
  for (let round = 1; round <= rounds; ++round) {
    for (const program of [own, ...others]) {
      const result = await program.run();
      program.rounds.push(result);
      process.stdout.write(`${precision}, round ${round}, ${program.name}: ${figures(result)}\n`);
    }
  }
  const ours = middle(own.rounds);
  const theirs = others.map((program) => ({ name: program.name, ...middle(program.rounds) }));
  // PyTorch's best of its modes, figure by figure.
  const best = {
    rate: Math.max(...theirs.map(({ rate }) => rate)),
    memory: Math.min(...theirs.map(({ memory }) => memory)),
    start: Math.min(...theirs.map(({ start }) => start)),
    cpu: Math.min(...theirs.map(({ cpu }) => cpu)),
  };
  process.stdout.write(
    `${precision}, medians of ${rounds}: ours ${figures(ours)}; PyTorch's best ${figures(best)}\n`,
  );
  // With one thread, processor time tells more than the clock on a machine that others use too.
  process.stdout.write(`  CPU time a step: PyTorch's is ${(best.cpu / ours.cpu).toFixed(3)} of ours\n`);
  // Each figure is judged beside the best of its kind; who uses PyTorch runs one mode, and waits
  // for that one's start.
  const fastest = theirs.reduce((a, b) => (b.rate > a.rate ? b : a));
  process.stdout.write(
    `  start beside ${fastest.name}, which has PyTorch's best images/s: ${(ours.start / fastest.start).toFixed(3)} (not judged)\n`,
  );
  return [
    judge('images/s', ours.rate / best.rate, gates[precision], true),
    judge('peak memory', ours.memory / best.memory, gates.memory, false),
    judge('start', ours.start / best.start, gates.start, false),
  ].every(Boolean);
}

main(async () => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      torch: { type: 'string' },
      precision: { type: 'string', default: 'fp32,bf16' },
      modes: { type: 'string', default: 'eager,compile' },
      rounds: { type: 'string', default: '5' },
      steps: { type: 'string', default: '3' },
      model: { type: 'string', default: 'resnet50' },
      'batch-size': { type: 'string', default: '16' },
      threads: { type: 'string', default: String(availableParallelism()) },
    },
  });
  if (values.help) {
    process.stdout.write(`${help}\n`);
    return;
  }
  const precisions = values.precision.split(',').map((name) => {
    if (name === 'fp32' || name === 'bf16') return name;
    throw new Error(`--precision ${name} is not measured here. Use fp32, bf16 or both.`);
  });
  ensureBuilt();
  const python = torchPython(values.torch);
  process.stdout.write(
    `${cpus()[0]?.model}, ${values.threads} threads, ${values.model}, batch ${values['batch-size']}\n`,
  );
  let good = true;
  for (const precision of precisions) {
    const options = {
      model: values.model,
      modes: values.modes.split(','),
      rounds: Number(values.rounds),
      steps: values.steps,
      batch: values['batch-size'],
      threads: values.threads,
    };
    good = (await compare(precision, python, options)) && good;
  }
  if (!good) process.exitCode = 1;
});
