// Images that are mixed with one another (--mixup, --cutmix), through the trainer's command line.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMetric } from '../../../src/core/contracts/metricsSchema.js';
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
} from '../../support/harness.js';

const folder = temporaryFolder('mixing');
const data = join(folder.path, 'data');
const shards = join(folder.path, 'shards');
const run = (name: string): string => join(folder.path, name);
const checkpoint = (name: string, step: number): string =>
  join(run(name), 'checkpoints', checkpointName(step));
const metrics = (name: string): ReturnType<typeof readLines> => readLines(join(run(name), 'metrics.jsonl'));
const mixing = ['--mixup', '0.4', '--cutmix', '1', '--label-smoothing', '0.1'];

const training = (name: string, ...more: string[]): string[] =>
  lastOnly([
    ...['train', '--model', 'mlp', '--data', join(data, 'train'), '--run-dir', run(name)],
    ...['--batch-size', '16', '--log-every', '1', ...mixing, ...more],
  ]);

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:3x80', '--to', data]), 0);
  expectExit(await runTrainer(['prep', '--from', join(data), '--to', shards, '--shards', '2']), 0);
});
afterAll(folder.remove);

describe('a run of mixed images', () => {
  const steps = 80;

  it('goes on bit for bit after SIGKILL, in micro-batches and with a cache', async () => {
    const args = (name: string): string[] =>
      training(
        name,
        ...['--batch-size', '12', '--accumulate', '2', '--cache', 'ram', '--augment', 'trivial'],
        ...['--steps', String(steps), '--checkpoint-every', '3'],
      );
    expectExit(await runTrainer(args('alone')), 0);
    await killTrainerAt(args('killed'), checkpoint('killed', 9));
    expectExit(await runTrainer(args('killed')), 0);
    expect(fingerprint(run('killed'), steps)).toBe(fingerprint(run('alone'), steps));
    const resumed = metrics('killed')
      .map(parseMetric)
      .filter((line) => line.kind === 'start')
      .at(-1);
    expect(resumed?.resumed_from).toMatch(/^step-/);
  });

  it('has the same weights for any number of decoding threads, from folders and from shards', async () => {
    const args = ['--steps', '12'];
    expectExit(await runRanks(2, training('one', ...args, '--loader-threads', '1')), 0);
    expectExit(await runRanks(2, training('three', ...args, '--loader-threads', '3', '--prefetch', '1')), 0);
    expectExit(await runRanks(2, training('shards', ...args, '--data', shards)), 0);
    expectExit(await runRanks(2, training('plain', ...args, '--mixup', '0.41')), 0);
    expect(fingerprint(run('three'), 12)).toBe(fingerprint(run('one'), 12));
    expect(fingerprint(run('shards'), 12)).toBe(fingerprint(run('one'), 12));
    expect(fingerprint(run('plain'), 12)).not.toBe(fingerprint(run('one'), 12));
  });

  it('sees in two micro-batches what it sees in one batch, each tensor within 1e-6 by norm', async () => {
    const args = ['--steps', '6', '--data', 'synthetic'];
    expectExit(await runTrainer(training('whole', ...args)), 0);
    expectExit(await runTrainer(training('parts', ...args, '--batch-size', '8', '--accumulate', '2')), 0);
    const weights = (name: string): ReturnType<typeof readTensors> =>
      readTensors(join(checkpoint(name, 6), 'model.safetensors'));
    const parts = weights('parts');
    for (const [name, { values }] of weights('whole')) {
      expect(relativeDistance(parts.get(name)?.values ?? new Float32Array(), values), name).toBeLessThan(
        1e-6,
      );
    }
  });

  it('learns the drawn images, and is evaluated on them as they are', async () => {
    const flags = ['--epochs', '40', '--lr', '0.02', '--augment', 'none', '--cache', 'ram'];
    expectExit(await runTrainer(training('learns', ...flags)), 0);
    const images = join(data, 'train');
    expectExit(await runTrainer(['eval', '--run-dir', run('learns'), '--data', images, '--once']), 0);
    const lines = metrics('learns').map(parseMetric);
    const evaluation = lines.filter((line) => line.kind === 'eval').at(-1);
    expect(evaluation?.images).toBe(192);
    expect(evaluation?.top1).toBeGreaterThan(0.75); // three classes: 0.33 by chance
  });
});

describe('a resume', () => {
  it('with another mixing is warned of by name, and goes on', async () => {
    expectExit(await runTrainer(training('other', '--steps', '2')), 0);
    const resumed = await runTrainer(training('other', '--steps', '4', '--mixup', '0.2'));
    expectExit(resumed, 0);
    expect(resumed.stderr).toMatch(/another recipe.*mixup: 0\.4, now 0\.2/);
    expect(resumed.stderr).not.toContain('cutmix');
  });
});

describe('usage', () => {
  it.each([
    ['--mixup', '0'],
    ['--mixup', '101'],
    ['--cutmix', '-0.2'],
    ['--cutmix', 'half'],
  ])('%s %s is refused with the range', async (flag, value) => {
    const outcome = await runTrainer(training('usage', flag, value));
    expectExit(outcome, 2);
    const [line = ''] = outcome.stderr.split('\n').filter((text) => text.startsWith('trainer: error:'));
    expect(line).toContain(flag);
    expect(line).toContain('above 0 up to 100');
    expect(existsSync(run('usage'))).toBe(false);
  });
});
