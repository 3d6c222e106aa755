// Checkpoints that are judged and used at another image size than they trained on
// (--eval-image-size), or after another resize (--eval-resize), by everything that judges them.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  fingerprint,
  lastOnly,
  readLines,
  readLinesSoFar,
  runRanks,
  runTrainer,
  start,
  temporaryFolder,
  trainer,
  until,
  type Line,
} from '../../support/harness.js';

const folder = temporaryFolder('eval-image-size');
const validation = join(folder.path, 'data/validation');
const run = (name: string): string => join(folder.path, name);
const checkpoint = (name: string, step: number): string =>
  join(run(name), 'checkpoints', checkpointName(step));
const evaluations = (name: string): Line[] =>
  readLines(join(run(name), 'metrics.jsonl')).filter(({ kind }) => kind === 'eval');

const training = (name: string, ...more: string[]): string[] =>
  lastOnly([
    ...['train', '--model', 'resnet20', '--image-size', '24', '--batch-size', '8', '--log-every', '1'],
    ...['--data', join(folder.path, 'data/train'), '--eval-data', validation, '--run-dir', run(name)],
    ...['--steps', '12', '--checkpoint-every', '6', ...more],
  ]);

/** What `trainer eval --once` finds of the checkpoint. */
async function once(name: string, step: number): Promise<Line | undefined> {
  const words = ['eval', '--once', '--run-dir', run(name), '--checkpoint', checkpoint(name, step)];
  expectExit(await runTrainer([...words, '--data', validation]), 0);
  return evaluations(name).at(-1);
}

/** The logits of all validation images, as text. */
async function logits(name: string, step: number): Promise<string> {
  const out = join(folder.path, `${name}.csv`);
  const words = ['predict', '--checkpoint', checkpoint(name, step), '--data', validation, '--logits'];
  expectExit(await runTrainer([...words, '--out', out]), 0);
  return readFileSync(out, 'utf8');
}

/** Copies a run with one checkpoint, which an older trainer has made at this size. */
function asOlder(from: string, step: number, size: number): string {
  const name = `older-${size}`;
  cpSync(run(from), run(name), { recursive: true });
  const read = (file: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(checkpoint(name, step), file), 'utf8')) as Record<string, unknown>;
  const without = (file: string, field: string): Record<string, unknown> =>
    Object.fromEntries(Object.entries(read(file)).filter(([key]) => key !== field));
  const text = JSON.stringify({ ...without('state.json', 'eval_image_size'), image_size: size });
  const manifest = without('manifest.json', 'checksum');
  const sha256 = createHash('sha256').update(text).digest('hex');
  const files = (manifest['files'] as { name: string }[]).map((file) =>
    file.name === 'state.json' ? { name: file.name, bytes: text.length, sha256 } : file,
  );
  writeFileSync(join(checkpoint(name, step), 'state.json'), text);
  writeFileSync(join(checkpoint(name, step), 'manifest.json'), JSON.stringify({ ...manifest, files }));
  return name;
}

beforeAll(async () => {
  const words = ['prep', '--from', 'demo:3x60', '--to', join(folder.path, 'data')];
  expectExit(await runTrainer(words), 0);
});
afterAll(folder.remove);

it('is the size of ranks, of eval and of predict, and training does not notice it', async () => {
  // An average of the weights is rank 0's alone.
  const ranks = ['--eval-on', 'ranks', '--ema', '0.5', '--ema-every', '2'];
  expectExit(await runRanks(2, training('larger', ...ranks, '--eval-image-size', '40')), 0);
  expectExit(await runRanks(2, training('same', ...ranks)), 0);
  expect(fingerprint(run('larger'), 12)).toBe(fingerprint(run('same'), 12));
  const byRanks = evaluations('larger');
  expect(byRanks.map(({ step }) => step)).toEqual([6, 12]);
  for (const [at, step] of [6, 12].entries()) {
    const alone = await once('larger', step);
    expect(byRanks[at]).toMatchObject({ top1: alone?.['top1'], images: alone?.['images'] });
    expect(Number(byRanks[at]?.['loss']) / Number(alone?.['loss'])).toBeCloseTo(1, 6);
    expect(alone?.['loss']).not.toBeCloseTo(Number((await once('same', step))?.['loss']), 6);
  }
  // Without an average each rank has the weights, and the statistics are rank 0's.
  expectExit(await runRanks(2, training('plain', '--eval-on', 'ranks', '--eval-image-size', '40')), 0);
  const [, plain] = evaluations('plain');
  expect(Number(plain?.['loss']) / Number((await once('plain', 12))?.['loss'])).toBeCloseTo(1, 6);
  // The very numbers of a checkpoint that has trained at that size, and has no second one.
  const older = asOlder('larger', 12, 40);
  expect((await once(older, 12))?.['loss']).toBe((await once('larger', 12))?.['loss']);
  expect(await logits('larger', 12)).toBe(await logits(older, 12));
  expect(await logits('larger', 12)).not.toBe(await logits('same', 12));
  expect(await logits(asOlder('same', 12, 24), 12)).toBe(await logits('same', 12));
});

it('is cropped after another resize, by ranks, by eval and by predict', async () => {
  const resized = ['--eval-on', 'ranks', '--eval-resize', '24'];
  expectExit(await runRanks(2, training('resized', ...resized)), 0);
  expectExit(await runRanks(2, training('usual', '--eval-on', 'ranks')), 0);
  expect(fingerprint(run('resized'), 12)).toBe(fingerprint(run('usual'), 12));
  const byRanks = Number(evaluations('resized')[1]?.['loss']);
  expect(byRanks / Number((await once('resized', 12))?.['loss'])).toBeCloseTo(1, 6);
  expect(byRanks).not.toBeCloseTo(Number(evaluations('usual')[1]?.['loss']), 6);
  expect(await logits('resized', 12)).not.toBe(await logits('usual', 12));
  const longer = await runTrainer(training('resized', '--steps', '18', '--accumulate', '2'));
  expect(longer.stderr).toContain('eval_resize: 24, now 27, so accuracies before are no measure');
  const outcome = await runTrainer(training('none', '--eval-resize', '23'));
  expectExit(outcome, 2);
  expect(outcome.stderr).toContain('--eval-resize 23 is less than the 24 pixels that are cropped of it');
});

it('may be another one at a resume, which the evaluator beside the training notices', async () => {
  const beside = ['eval', '--run-dir', run('resumed'), '--data', validation, '--interval', '0.1'];
  const evaluator = start(trainer, beside);
  const file = join(run('resumed'), 'metrics.jsonl');
  const judged = (step: number): Promise<Line> =>
    until(`the evaluation of step ${step}`, () => {
      const lines = existsSync(file) ? readLinesSoFar(file) : [];
      return lines.find((line) => line.kind === 'eval' && line['step'] === step);
    });
  const losses: unknown[] = [];
  for (const [steps, size] of [
    [6, 32],
    [12, 40],
  ]) {
    const words = training('resumed', '--steps', String(steps), '--eval-image-size', String(size));
    const { stderr, code } = await runTrainer(words);
    expect(code, stderr).toBe(0);
    expect(stderr.includes('eval_image_size: 32, now 40')).toBe(size === 40);
    losses.push((await judged(Number(steps)))['loss']);
  }
  evaluator.child.kill('SIGTERM');
  expectExit(await evaluator.ended, 0);
  expect(losses).toEqual([(await once('resumed', 6))?.['loss'], (await once('resumed', 12))?.['loss']]);
});

it.each([
  ['--model', 'mlp', '40', /--eval-image-size 40: the weights of mlp .* use another --model/],
  ['--model', 'resnet18', '31', /--eval-image-size 31: .* at least 32 pixels\. Use a larger/],
  ['--model', 'resnet20', '-1', /--eval-image-size/],
])('%s %s at %s pixels is refused before anything is trained', async (flag, model, size, says) => {
  rmSync(run('refused'), { recursive: true, force: true });
  const words = training('refused', flag, model, '--image-size', '32', '--eval-image-size', size);
  const outcome = await runTrainer(words);
  expectExit(outcome, 2);
  expect(outcome.stderr).toMatch(says);
  expect(existsSync(join(run('refused'), 'checkpoints'))).toBe(false);
});
