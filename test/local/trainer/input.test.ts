// What feeds a run: with a shuffle buffer and a cache it resumes in the middle of an epoch,
// whatever feeds it then.
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  lastOnly,
  fingerprint,
  readLines,
  runRanks,
  runTrainer,
  temporaryFolder,
} from '../../support/harness.js';

const folder = temporaryFolder('input');
const data = join(folder.path, 'data', 'train');
const steps = 40;
const whole = join(folder.path, 'whole');

const training = (dir: string, ...more: string[]): string[] =>
  lastOnly([
    'train',
    '--model',
    'mlp',
    '--data',
    data,
    '--run-dir',
    dir,
    '--batch-size',
    '6',
    '--steps',
    String(steps),
    '--checkpoint-every',
    '5',
    '--keep',
    '20',
    '--shuffle-buffer',
    '50',
    ...more,
  ]);

beforeAll(async () => {
  const to = join(folder.path, 'data');
  expectExit(await runTrainer(['prep', '--from', 'demo:3x60', '--to', to]), 0);
  expectExit(await runRanks(2, training(whole, '--cache', 'ram', '--prefetch', '2')), 0);
});
afterAll(folder.remove);

/** The run as it was at a step: nothing but that checkpoint. */
function asAt(step: number): string {
  const dir = join(folder.path, `from-${step}`);
  const name = checkpointName(step);
  mkdirSync(join(dir, 'checkpoints'), { recursive: true });
  cpSync(join(whole, 'checkpoints', name), join(dir, 'checkpoints', name), { recursive: true });
  return dir;
}

describe('what feeds a run', () => {
  it('a run resumed within an epoch, fed otherwise, ends with the same weights', async () => {
    const plan = readLines(join(whole, 'metrics.jsonl')).find((line) => line.kind === 'start');
    expect(plan).toMatchObject({ steps_per_epoch: 12 });
    const dir = asAt(15);
    const outcome = await runRanks(2, training(dir, '--loader-threads', '3', '--prefetch', '7'));
    expectExit(outcome, 0);
    expect(fingerprint(dir, steps)).toBe(fingerprint(whole, steps));
    expect(readLines(join(dir, 'metrics.jsonl'))[0]).toMatchObject({ resumed_from: checkpointName(15) });
  });

  it('another shuffle buffer is refused by name', async () => {
    const outcome = await runRanks(2, training(asAt(20), '--shuffle-buffer', '51'));
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain('shuffle_buffer {"checkpoint":50,"now":51}');
    const negative = await runTrainer(training(join(folder.path, 'negative'), '--shuffle-buffer', '-1'));
    expectExit(negative, 2);
    expect(negative.stderr).toContain('--shuffle-buffer');
  });

  it('a cache says what it will take and what it takes, files of other formats are called by name', async () => {
    const copy = join(folder.path, 'copy');
    cpSync(data, copy, { recursive: true });
    const [victim] = readdirSync(join(copy, 'circle'));
    const path = join(copy, 'circle', victim ?? '');
    expect(readFileSync(path).length).toBeGreaterThan(100);
    writeFileSync(path, 'GIF89a');
    const dir = join(folder.path, 'noted');
    const outcome = await runTrainer(training(dir, '--data', copy, '--cache', 'ram'));
    expectExit(outcome, 0);
    expect(outcome.stderr).toMatch(
      /note: the 144 decoded images take about [\d.]+ MB in memory; [\d.]+ [MG]B are to spare/,
    );
    expect(outcome.stderr).toMatch(/note: 143 of 144 decoded images are kept in memory and take [\d.]+ MB/);
    expect(readLines(join(dir, 'metrics.jsonl')).filter((line) => line.kind === 'bad_image')).toMatchObject([
      { path, message: 'it is a GIF file, and only JPEG and PNG are read', count: 1 },
    ]);
    const shared = join(folder.path, 'shared');
    expectExit(await runRanks(2, training(shared, '--data', copy)), 0);
    const counts = readLines(join(shared, 'metrics.jsonl'))
      .filter((line) => line.kind === 'host' && line['step'] === steps)
      .map((line) => line['bad_images']);
    // Each epoch one of the ranks meets it, and each counts it once.
    expect([
      [0, 1],
      [1, 0],
      [1, 1],
    ]).toContainEqual(counts);
  });
});
