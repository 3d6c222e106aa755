// --repeated-augmentation by the weights of real trainings: what a resume keeps, and what it
// refuses.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  fingerprint,
  killRanksAt,
  lastOnly,
  readLines,
  runRanks,
  runTrainer,
  temporaryFolder,
  type Line,
} from '../../support/harness.js';

const folder = temporaryFolder('repeated-augmentation');
const run = (name: string): string => join(folder.path, name);
const training = (name: string, ...more: string[]): string[] =>
  lastOnly([
    ...['train', '--model', 'mlp', '--data', join(folder.path, 'data/train'), '--run-dir', run(name)],
    ...['--batch-size', '5', '--lr', '0.01', '--log-every', '1', '--steps', '200'],
    ...['--checkpoint-every', '10', ...more],
  ]);
const startsOf = (name: string): Line[] =>
  readLines(join(run(name), 'metrics.jsonl')).filter(({ kind }) => kind === 'start');
const repeated = ['--repeated-augmentation', '4'];

beforeAll(async () => {
  const words = ['prep', '--from', 'demo:3x60', '--to', join(folder.path, 'data')];
  expectExit(await runTrainer(words), 0);
});
afterAll(folder.remove);

it('goes on bit for bit after SIGKILL of all ranks, and is not what a training without does', async () => {
  expectExit(await runRanks(2, training('alone', ...repeated)), 0);
  await killRanksAt(2, training('killed', ...repeated), run('killed'), 20);
  expectExit(await runRanks(2, training('killed', ...repeated)), 0);
  expect(startsOf('killed').at(-1)?.['resumed_from']).toMatch(/^step-(?!00000200)/);
  expect(fingerprint(run('killed'), 200)).toBe(fingerprint(run('alone'), 200));
  expectExit(await runRanks(2, training('once')), 0);
  expect(fingerprint(run('once'), 200)).not.toBe(fingerprint(run('alone'), 200));
  for (const name of ['alone', 'once']) {
    expect(startsOf(name)).toMatchObject([{ steps_per_epoch: 14 }]); // 144 images, 10 a step
  }
});

it('cannot be given up, or changed, at a resume', async () => {
  expectExit(await runTrainer(training('kept', ...repeated, '--steps', '3')), 0);
  for (const words of [[], ['--repeated-augmentation', '3']]) {
    const outcome = await runTrainer(training('kept', '--steps', '6', ...words));
    expectExit(outcome, 2);
    expect(outcome.stderr).toMatch(/another repeated_augmentation .*"checkpoint":4/);
  }
  expect(existsSync(join(run('kept'), 'checkpoints', checkpointName(6)))).toBe(false);
});

it('takes images that are augmented', async () => {
  const outcome = await runTrainer(training('plain', ...repeated, '--augment', 'none'));
  expectExit(outcome, 2);
  expect(outcome.stderr).toContain('--repeated-augmentation repeats images to augment');
  const erased = ['--augment', 'none', '--random-erasing', '0.5', '--steps', '1'];
  expectExit(await runTrainer(training('plain', ...repeated, ...erased)), 0);
});
