// npm run bench:accuracy: what a network learns here beside the same one in PyTorch, by the same
// recipe on the same drawn images: the mean of several seeds each. Exit 1 when they lie further
// apart than the gate.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { trainer } from '../demo/data.mjs';
import { root } from '../lib/paths.mjs';
import { main, run, step } from '../lib/shell.mjs';
import { torchPython } from './support/torch.mjs';
import { buildNative } from '../native/native.mjs';

const help = `npm run bench:accuracy -- [--torch VENV] [--seeds 5] [--images 8x400] [--image-size 16] [--epochs 8] [--threads 1]
PyTorch is installed into the user's cache (about 5 GB) unless --torch names a virtual environment that has it.`;
const gate = 0.5; // points between the means
const validation = '0.5'; // many images validate, so that one of them counts for little

/**
 * The only place of the recipe: both programs take these flags. By default the images are small and
 * the epochs few, so that the set is nearly learned: before that, seeds differ by one to two
 * points, and five of them could not tell a difference of half a point from chance.
 * @param {{ size: string, epochs: string, threads: string }} options
 */
const recipe = ({ size, epochs, threads }) => [
  ...['--model', 'resnet20', '--image-size', size, '--epochs', epochs, '--batch-size', '32'],
  ...['--optimizer', 'sgd', '--momentum', '0.9', '--weight-decay', '5e-4', '--label-smoothing', '0'],
  ...['--lr', '0.05', '--lr-schedule', 'cosine', '--warmup-epochs', '1', '--augment', 'standard'],
  ...['--threads', threads],
];

/**
 * Runs a program, quietly. What it prints.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} threads
 * @returns {Promise<string>}
 */
function printed(command, args, threads) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, OMP_NUM_THREADS: threads };
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
    let text = '';
    let complaint = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (complaint += chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ended with exit ${code}: ${complaint.trim()}`));
    });
  });
}

/**
 * @param {string} folder
 * @param {string} data
 * @param {readonly string[]} flags
 * @param {string} seed
 * @param {string} threads
 * @returns {Promise<number>}
 */
async function ours(folder, data, flags, seed, threads) {
  const dir = join(folder, `run-${seed}`);
  const training = ['train', ...flags, '--data', join(data, 'train'), '--run-dir', dir, '--seed', seed];
  await printed(trainer, [...training, '--comm', 'none', '--cache', 'ram'], threads);
  const evaluation = ['eval', '--run-dir', dir, '--data', join(data, 'validation'), '--once'];
  await printed(trainer, [...evaluation, '--threads', threads], threads);
  /** @type {{ kind: string, top1: number }[]} */
  const lines = readFileSync(join(dir, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const last = lines.findLast(({ kind }) => kind === 'eval');
  if (last === undefined) throw new Error(`${dir} has no validation`);
  return last.top1;
}

/**
 * @param {string} python
 * @param {string} data
 * @param {readonly string[]} flags
 * @param {string} seed
 * @param {string} threads
 * @returns {Promise<number>}
 */
async function theirs(python, data, flags, seed, threads) {
  const script = join(root, 'scripts/bench/support/torch_train.py');
  const where = ['--data', join(data, 'train'), '--eval-data', join(data, 'validation')];
  return JSON.parse(await printed(python, [script, ...flags, ...where, '--seed', seed], threads)).top1;
}

/** @param {readonly number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
/**
 * Of a sample.
 * @param {readonly number[]} values
 */
const deviation = (values) =>
  Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1));
/** @param {number} part */
const percent = (part) => `${(100 * part).toFixed(2)}%`;

main(async () => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      torch: { type: 'string' },
      seeds: { type: 'string', default: '5' },
      images: { type: 'string', default: '8x400' },
      'image-size': { type: 'string', default: '16' },
      epochs: { type: 'string', default: '8' },
      threads: { type: 'string', default: '1' },
    },
  });
  if (values.help) {
    process.stdout.write(`${help}\n`);
    return;
  }
  const seeds = Number(values.seeds);
  if (!Number.isInteger(seeds) || seeds < 2)
    throw new Error('--seeds must be 2 or more. Leave it out for 5.');
  buildNative();
  const python = torchPython(values.torch);
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-accuracy-'));
  try {
    step(`drawing ${values.images} images`);
    const data = join(folder, 'data');
    const drawing = ['prep', '--from', `demo:${values.images}`, '--to', data, '--validation', validation];
    run(trainer, drawing, { stdio: ['ignore', 2, 2] });
    const flags = recipe({ ...values, size: values['image-size'] });
    process.stdout.write(`${flags.join(' ')}\n`);
    /** @type {Record<'trainyard' | 'PyTorch', number[]>} */
    const found = { trainyard: [], PyTorch: [] };
    for (let seed = 1; seed <= seeds; ++seed) {
      const own = await ours(folder, data, flags, String(seed), values.threads);
      const other = await theirs(python, data, flags, String(seed), values.threads);
      found.trainyard.push(own);
      found.PyTorch.push(other);
      process.stdout.write(`seed ${seed}: trainyard ${percent(own)}, PyTorch ${percent(other)}\n`);
    }
    for (const [name, each] of Object.entries(found)) {
      process.stdout.write(
        `${name}: validation top-1 ${percent(mean(each))}, deviation of a seed ${percent(deviation(each))}\n`,
      );
    }
    const apart = 100 * (mean(found.trainyard) - mean(found.PyTorch));
    const error = 100 * Math.hypot(...Object.values(found).map((each) => deviation(each) / Math.sqrt(seeds)));
    const holds = Math.abs(apart) <= gate;
    process.stdout.write(
      `difference ${apart.toFixed(2)} points, give or take ${error.toFixed(2)} (standard error); within ${gate}: ${holds ? 'holds' : 'DOES NOT HOLD'}\n`,
    );
    if (!holds) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
