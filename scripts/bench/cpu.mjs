// npm run bench:cpu: our training step on the CPU beside PyTorch's at its best of eager and
// torch.compile, by turns: images/s, peak memory, and what comes before the first step. Exit 1 when
// a gate does not hold.
import { spawn } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { trainer } from '../demo/data.mjs';
import { root } from '../lib/paths.mjs';
import { ensureBuilt } from '../build/prepare.mjs';
import { main } from '../lib/shell.mjs';
import { torchPython } from './torch.mjs';

const help = `npm run bench:cpu -- [--torch VENV] [--precision fp32,bf16] [--modes eager,compile] [--rounds 5] [--steps 3]
                     [--model resnet50] [--batch-size 16] [--threads N]
PyTorch is installed into the user's cache (about 5 GB) unless --torch names a virtual environment that has it.`;
const gates = { fp32: 1.1, bf16: 1.3, memory: 0.8, start: 0.2 };
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/**
 * Runs one program. Its figures, with `start`: seconds from its start to the end of its first step,
 * less a steady one.
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
      const said = JSON.parse(text.trim().split('\n').at(-1));
      const start = said.first_step_at - began - said.step_ms / 1000;
      return resolve({ rate: said.images_per_sec, memory: said.peak_bytes, start, cpu: said.cpu_ms / 1000 });
    });
  });
}

const figures = ({ rate, memory, start, cpu }) =>
  `${rate.toFixed(2)} images/s, ${(memory / 1e6).toFixed(0)} MB, ${start.toFixed(1)} s to start, ${cpu.toFixed(2)} CPU s a step`;

/** The medians of some rounds. */
const middle = (rounds) =>
  Object.fromEntries(
    ['rate', 'memory', 'start', 'cpu'].map((name) => [name, median(rounds.map((r) => r[name]))]),
  );

/** Prints a ratio beside its gate. Returns whether it holds. */
function judge(what, ratio, gate, atLeast) {
  const holds = atLeast ? ratio >= gate : ratio <= gate;
  const word = atLeast ? 'at least' : 'at most';
  process.stdout.write(
    `  ${what}: ${ratio.toFixed(3)} (${word} ${gate}) ${holds ? 'holds' : 'DOES NOT HOLD'}\n`,
  );
  return holds;
}

async function compare(precision, python, options) {
  const { model, modes, rounds, steps, batch, threads } = options;
  const shared = ['--model', model, '--precision', precision, '--batch-size', batch, '--threads', threads];
  const measured = [...shared, '--steps', steps, '--warmup', '1'].map(String);
  const programs = {
    trainyard: () =>
      measure(
        trainer,
        ['bench', 'step', '--comm', 'none', '--data', 'synthetic:1000x224', ...measured],
        threads,
      ),
  };
  for (const mode of modes) {
    const script = [join(root, 'scripts/bench/torch_step.py'), '--device', 'cpu', '--mode', mode];
    programs[`PyTorch ${mode}`] = () => measure(python, [...script, ...measured], threads);
  }
  const results = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  for (let round = 1; round <= rounds; ++round) {
    for (const [name, program] of Object.entries(programs)) {
      const result = await program();
      results[name].push(result);
      process.stdout.write(`${precision}, round ${round}, ${name}: ${figures(result)}\n`);
    }
  }
  const { trainyard: ours, ...theirs } = Object.fromEntries(
    Object.entries(results).map(([name, all]) => [name, middle(all)]),
  );
  // PyTorch's best of its modes, figure by figure.
  const best = {
    rate: Math.max(...Object.values(theirs).map(({ rate }) => rate)),
    memory: Math.min(...Object.values(theirs).map(({ memory }) => memory)),
    start: Math.min(...Object.values(theirs).map(({ start }) => start)),
    cpu: Math.min(...Object.values(theirs).map(({ cpu }) => cpu)),
  };
  process.stdout.write(
    `${precision}, medians of ${rounds}: ours ${figures(ours)}; PyTorch's best ${figures(best)}\n`,
  );
  // With one thread, processor time tells more than the clock on a machine that others use too.
  process.stdout.write(`  CPU time a step: PyTorch's is ${(best.cpu / ours.cpu).toFixed(3)} of ours\n`);
  // Each figure is judged beside the best of its kind; who uses PyTorch runs one mode, and waits
  // for that one's start.
  const [fastest, { start }] = Object.entries(theirs).reduce((a, b) => (b[1].rate > a[1].rate ? b : a));
  process.stdout.write(
    `  start beside ${fastest}, which has PyTorch's best images/s: ${(ours.start / start).toFixed(3)} (not judged)\n`,
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
  const precisions = values.precision.split(',');
  const strange = precisions.find((name) => name !== 'fp32' && name !== 'bf16');
  if (strange !== undefined)
    throw new Error(`--precision ${strange} is not measured here. Use fp32, bf16 or both.`);
  ensureBuilt();
  const python = torchPython(values.torch);
  process.stdout.write(
    `${cpus()[0].model}, ${values.threads} threads, ${values.model}, batch ${values['batch-size']}\n`,
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
