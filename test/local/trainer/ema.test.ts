// The moving average of the weights (--ema), from what checkpoints hold.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  fingerprint,
  killTrainerAt,
  lastOnly,
  readLines,
  readTensors,
  relativeDistance,
  runRanks,
  runTrainer,
  temporaryFolder,
  type Tensor,
} from '../../support/harness.js';

const folder = temporaryFolder('ema');
const data = join(folder.path, 'data');
const run = (name: string): string => join(folder.path, name);
const checkpoint = (name: string, step: number): string =>
  join(run(name), 'checkpoints', checkpointName(step));
const tensors = (name: string, step: number, file: 'model' | 'optimizer'): Map<string, Tensor> =>
  readTensors(join(checkpoint(name, step), `${file}.safetensors`));
const model = (name: string, step: number): Map<string, Tensor> => tensors(name, step, 'model');

/** What training goes on from, where the model is an average; empty where it is not. */
function current(name: string, step: number): Map<string, Tensor> {
  const ending = '.current';
  const all = [...tensors(name, step, 'optimizer')].filter(([tensor]) => tensor.endsWith(ending));
  return new Map(all.map(([tensor, value]) => [tensor.slice(0, -ending.length), value]));
}

const training = (name: string, ...more: string[]): string[] =>
  lastOnly([
    ...[
      'train',
      '--model',
      'resnet20',
      '--data',
      join(data, 'train'),
      '--eval-data',
      join(data, 'validation'),
    ],
    ...['--run-dir', run(name), '--batch-size', '8', '--log-every', '1', '--checkpoint-every', '1'],
    ...['--keep', '100', '--steps', '8', ...more],
  ]);
const averaged = ['--ema', '0.75', '--ema-every', '2'];

const values = (of: Map<string, Tensor>, name: string): Float32Array =>
  of.get(name)?.values ?? new Float32Array();

/** The same tensors with the same bits; compared without a diff of millions of numbers. */
function expectSame(got: Map<string, Tensor>, want: Map<string, Tensor>): void {
  expect([...got.keys()].sort()).toEqual([...want.keys()].sort());
  const others = [...want].filter(([name, { values: all }]) => {
    const own = values(got, name);
    return own.length !== all.length || all.some((value, at) => value !== own[at]);
  });
  expect(others.map(([name]) => name)).toEqual([]);
}

beforeAll(async () => {
  const words = ['prep', '--from', 'demo:3x90', '--to', data, '--validation', '0.2'];
  expectExit(await runTrainer(words), 0);
});
afterAll(folder.remove);

it('averages weights and statistics, and changes nothing of the training', async () => {
  // 13 steps an epoch: warm-up ends after step 4.
  const warm = ['--warmup-epochs', '0.3'];
  expectExit(await runRanks(2, training('averaged', ...averaged, ...warm, '--eval-on', 'ranks')), 0);
  expectExit(await runRanks(2, training('plain', ...warm)), 0);
  expect(current('averaged', 1).size).toBe(0); // before the first weights that count
  expectSame(model('averaged', 1), model('plain', 1));
  for (const step of [2, 5, 8]) expectSame(current('averaged', step), model('plain', step));
  expectSame(model('averaged', 5), model('averaged', 4)); // step 5 does not count
  const [six, eight, average] = [model('plain', 6), model('plain', 8), model('averaged', 8)];
  // Copies while the rate warms up, and the first time after that.
  expectSame(model('averaged', 4), model('plain', 4));
  expectSame(model('averaged', 6), six);
  for (const [name, { values: before }] of six) {
    const want = before.map((value, at) => 0.75 * value + 0.25 * (values(eight, name)[at] ?? 0));
    expect(relativeDistance(values(average, name), want), name).toBeLessThan(1e-6);
  }
  const evaluations = readLines(join(run('averaged'), 'metrics.jsonl')).filter(({ kind }) => kind === 'eval');
  expect(evaluations).toHaveLength(8);
  for (const step of [1, 8]) {
    const eight = ['--once', '--checkpoint', checkpoint('averaged', step), '--run-dir', run('averaged')];
    expectExit(await runTrainer(['eval', '--data', join(data, 'validation'), ...eight]), 0);
    const alone = readLines(join(run('averaged'), 'metrics.jsonl')).at(-1);
    const byRanks = evaluations[step - 1];
    expect(alone).toMatchObject({ once: true, top1: byRanks?.['top1'], images: byRanks?.['images'] });
    expect(Number(byRanks?.['loss']) / Number(alone?.['loss'])).toBeCloseTo(1, 6);
  }
});

it('goes on bit for bit after SIGKILL', async () => {
  const words = (name: string): string[] =>
    training(name, ...averaged, '--steps', '40', '--checkpoint-every', '3');
  expectExit(await runTrainer(words('alone')), 0);
  await killTrainerAt(words('killed'), checkpoint('killed', 9));
  expectExit(await runTrainer(words('killed')), 0);
  expect(fingerprint(run('killed'), 40)).toBe(fingerprint(run('alone'), 40));
});

it('can be given up, and taken up, at a resume', async () => {
  const words = (name: string, ...more: string[]): string[] =>
    training(name, '--lr-schedule', 'step', ...more);
  for (const name of ['given-up', 'never']) {
    const first = name === 'never' ? [] : averaged;
    expectExit(await runTrainer(words(name, ...first, '--steps', '4')), 0);
    const second = await runTrainer(words(name, '--steps', '8'));
    expectExit(second, 0);
    expect(second.stderr.includes('ema: 0.75, now 0')).toBe(name === 'given-up');
  }
  expectSame(model('given-up', 8), model('never', 8));
  expectExit(await runTrainer(words('never', ...averaged, '--steps', '12')), 0);
  expect(current('never', 9).size).toBe(0);
  expectSame(model('never', 10), current('never', 10));
  expect(() => {
    expectSame(model('never', 12), current('never', 12));
  }).toThrow();
});

it.each([
  ['--ema', '1'],
  ['--ema', '-0.5'],
  ['--ema-every', '0'],
])('%s %s is refused', async (flag, value) => {
  const outcome = await runTrainer(training('refused', flag, value));
  expectExit(outcome, 2);
  expect(outcome.stderr).toContain(flag);
});
