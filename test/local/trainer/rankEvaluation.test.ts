// Evaluations by the ranks of a training (--eval-on ranks): what `trainer eval` would say of the
// same checkpoints, and a training that does not notice them.
import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  fingerprint,
  lastOnly,
  readLines,
  readLinesSoFar,
  runCli,
  runRanks,
  runTrainer,
  start,
  temporaryFolder,
  trainer,
  until,
  type Line,
} from '../../support/harness.js';

const folder = temporaryFolder('rank-evaluation');
const train = join(folder.path, 'data/train');
const validation = join(folder.path, 'data/validation');
const run = (name: string): string => join(folder.path, name);
const lines = (name: string): Line[] => readLines(join(run(name), 'metrics.jsonl'));
const evaluationsSoFar = (name: string): Line[] =>
  readLinesSoFar(join(run(name), 'metrics.jsonl')).filter(({ kind }) => kind === 'eval');
const evaluations = (name: string): Line[] => lines(name).filter(({ kind }) => kind === 'eval');

const flags = (...more: string[]): string[] =>
  lastOnly([
    ...['train', '--data', train, '--eval-data', validation, '--batch-size', '8', '--log-every', '4'],
    ...more,
  ]);
const training = (name: string, ...more: string[]): string[] =>
  flags('--eval-on', 'ranks', '--run-dir', run(name), ...more);

/** A copy of the validation images in which no image, or only the first, can be read. */
function spoilt(name: string, isWhole: (index: number) => boolean): string {
  const copy = run(name);
  cpSync(validation, copy, { recursive: true });
  const files = readdirSync(copy, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.jpg'),
  );
  for (const [index, file] of files.entries())
    if (!isWhole(index)) writeFileSync(join(copy, file), 'no image');
  return copy;
}

beforeAll(async () => {
  const words = ['prep', '--from', 'demo:3x90', '--to', join(folder.path, 'data'), '--validation', '0.2'];
  expectExit(await runTrainer(words), 0);
});
afterAll(folder.remove);

describe('three ranks with batch norm', () => {
  const recipe = ['--model', 'resnet20', '--steps', '18', '--checkpoint-every', '6'];

  it('judge as trainer eval does, and train as if they did not', async () => {
    // 54 images are no multiple of what three ranks take at a time, and one cannot be read.
    const images = spoilt('one-spoilt', (index) => index !== 20);
    expectExit(await runRanks(3, training('judged', ...recipe, '--eval-data', images)), 0);
    expectExit(await runRanks(3, flags('--run-dir', run('alone'), ...recipe)), 0);
    expect(evaluations('alone')).toEqual([]);
    expect(fingerprint(run('judged'), 18)).toBe(fingerprint(run('alone'), 18));
    const judged = evaluations('judged');
    expect(judged.map(({ step }) => step)).toEqual([6, 12, 18]);
    for (const { step, checkpoint, ...line } of judged) {
      expect(checkpoint).toBe(checkpointName(Number(step)));
      const path = join(run('alone'), 'checkpoints', checkpointName(Number(step)));
      const words = ['eval', '--run-dir', run('alone'), '--data', images, '--once', '--checkpoint', path];
      expectExit(await runTrainer(words), 0);
      const alone = evaluations('alone').at(-1);
      expect(line).toMatchObject({ images: 53, data: images, top1: alone?.['top1'], top5: alone?.['top5'] });
      expect(line).not.toHaveProperty('once');
      expect(Number(line['loss']) / Number(alone?.['loss'])).toBeCloseTo(1, 6);
    }
    expect(readdirSync(join(run('judged'), 'eval')).length).toBe(1); // TensorBoard's curves
  });

  it('judge a checkpoint at the resume where the run ended before that', async () => {
    const file = join(run('judged'), 'metrics.jsonl');
    const before = readFileSync(file, 'utf8').split('\n');
    const cut = before.filter((line) => !(line.includes('"kind":"eval"') && line.includes('"step":18,')));
    expect(cut).toHaveLength(before.length - 1);
    writeFileSync(file, cut.join('\n'));
    const images = join(run('one-spoilt'));
    expectExit(await runRanks(3, training('judged', ...recipe, '--eval-data', images)), 0);
    expect(evaluations('judged').map(({ step }) => step)).toEqual([6, 12, 18]);
    expectExit(await runRanks(3, training('judged', ...recipe, '--eval-data', images)), 0);
    expect(evaluations('judged')).toHaveLength(3);
  });
});

it('early stop is at the same step each time', async () => {
  const words = ['--model', 'mlp', '--epochs', '40', '--lr', '0.02', '--early-stop', '2'];
  const ends: unknown[] = [];
  for (const name of ['early-1', 'early-2']) {
    expectExit(await runRanks(2, training(name, ...words)), 0);
    const end = lines(name).find(({ kind }) => kind === 'end');
    expect(end).toMatchObject({ reason: 'finished', early_stop: true });
    ends.push(end?.['step']);
  }
  expect(ends[0]).toBe(ends[1]);
});

/** SIGTERM as soon as an evaluation has begun. */
async function stoppedInEvaluation(name: string, ...words: string[]): Promise<void> {
  const running = start(trainer, training(name, ...synthetic, ...words));
  const beat = join(run(name), 'heartbeats/rank-0');
  await until('an evaluation', () => existsSync(beat) && readFileSync(beat, 'utf8').includes('"evaluating"'));
  running.child.kill('SIGTERM');
  expectExit(await running.ended, 75);
}
const synthetic = ['--data', 'synthetic', '--eval-data', 'synthetic', '--model', 'resnet20'];

it('a stop in the midst of an evaluation does not wait for its end', async () => {
  const words = ['--image-size', '40', '--checkpoint-every', '2'];
  await stoppedInEvaluation('stopped', ...words, '--steps', '100');
  expect(evaluations('stopped')).toEqual([]);
  expect(existsSync(join(run('stopped'), 'checkpoints', checkpointName(2), 'manifest.json'))).toBe(true);
  expect(existsSync(join(run('stopped'), 'checkpoints', checkpointName(3)))).toBe(false);
  // The next start makes up for it.
  const more = training('stopped', ...synthetic, ...words, '--steps', '100');
  const again = start(trainer, more);
  await until('the evaluation', () => evaluationsSoFar('stopped').length > 0, 120);
  again.child.kill('SIGTERM');
  await again.ended;
  expect(evaluationsSoFar('stopped')[0]).toMatchObject({ step: 2 });
});

it('a run that is stopped in its last evaluation has not finished, and makes it up', async () => {
  const words = ['--image-size', '40', '--steps', '2'];
  await stoppedInEvaluation('last', ...words);
  expect(evaluations('last')).toEqual([]);
  expectExit(await runTrainer(training('last', ...synthetic, ...words)), 0);
  expect(evaluations('last')).toMatchObject([{ step: 2, images: 5120 }]);
});

it('images that cannot be read are a warning, and training goes on', async () => {
  const images = spoilt('all-spoilt', () => false);
  const words = training('unread', '--model', 'mlp', '--steps', '4', '--eval-data', images);
  const outcome = await runRanks(2, words);
  expectExit(outcome, 0);
  expect(outcome.stderr).toContain('step 4 is not evaluated, and training goes on: no image of');
  expect(evaluations('unread')).toEqual([]);
});

it('other classes, or no images, end the run before its first step', async () => {
  const others = join(folder.path, 'others');
  expectExit(await runTrainer(['prep', '--from', 'demo:2x20', '--to', others]), 0);
  const classes = await runTrainer(training('others', '--eval-data', join(others, 'train')));
  expectExit(classes, 3);
  expect(classes.stderr).toMatch(/are not those the checkpoint was trained on/);
  expect(existsSync(join(run('others'), 'checkpoints'))).toBe(false);
  const without = await runTrainer([
    'train',
    '--data',
    train,
    '--eval-on',
    'ranks',
    '--run-dir',
    run('none'),
  ]);
  expectExit(without, 2);
  expect(without.stderr).toContain('--eval-data, which is missing');
});

it('a run has no evaluator then', async () => {
  const home = join(folder.path, 'home');
  const words = flags('--eval-on', 'ranks', '--model', 'mlp', '--steps', '6', '--device', 'cpu');
  const outcome = await runCli(['run', 'local', '--run-dir', run('whole'), '--ranks', '2', '--', ...words], {
    env: { TRAINYARD_HOME: home },
  });
  expectExit(outcome, 0);
  expect(evaluations('whole').map(({ step }) => step)).toEqual([6]);
  const journal = readLines(join(run('whole'), 'events.jsonl')).map(({ kind }) => kind);
  expect(journal).toContain('finished');
  expect(journal).not.toContain('evaluator_started');
  expect(outcome.stdout).toMatch(/top-1 +.*evaluation/);
});
