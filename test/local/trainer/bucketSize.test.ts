// `--bucket-size`: how many gradients are sent off together changes no weight of two ranks.
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parseMetric } from '../../../src/core/contracts/metricsSchema.js';
import {
  checkpointName,
  expectExit,
  largestDistance,
  readLines,
  readTensors,
  runRanks,
  temporaryFolder,
} from '../../support/harness.js';

const folder = temporaryFolder('bucket-size');
afterAll(folder.remove);

const dirOf = (name: string): string => join(folder.path, name);
const training = (name: string, ...more: string[]): string[] => [
  ...['train', '--model', 'mlp', '--data', 'synthetic', '--batch-size', '8', '--steps', '4'],
  ...['--run-dir', dirOf(name), ...more],
];
const weights = (name: string): ReturnType<typeof readTensors> =>
  readTensors(join(dirOf(name), 'checkpoints', checkpointName(4), 'model.safetensors'));
const bucketSizes = (name: string): unknown[] =>
  readLines(join(dirOf(name), 'metrics.jsonl'))
    .map(parseMetric)
    .flatMap((line) => (line.kind === 'start' ? [line.bucket_size] : []));

it('sends gradients off in buckets of that size, with the same weights', async () => {
  expectExit(await runRanks(2, training('usual')), 0);
  for (const [name, more] of [
    ['small', []],
    ['small-central', ['--strategy', 'central-storage']],
  ] as const) {
    expectExit(await runRanks(2, training(name, '--bucket-size', '0.0625', ...more)), 0);
    expect(bucketSizes(name)).toEqual([0.0625]);
    expect(largestDistance(weights(name), weights('usual')).distance).toBe(0);
  }
  expect(bucketSizes('usual')).toEqual([4]);
  expectExit(await runRanks(1, training('alone')), 0);
  expect(bucketSizes('alone')).toEqual([null]);
});

it('refuses sizes out of its range, and servers', async () => {
  const cases: [string[], string][] = [
    [['--bucket-size', '0'], '--bucket-size'],
    [
      ['--bucket-size', '4', '--strategy', 'parameter-server'],
      '--bucket-size has no meaning with --strategy',
    ],
  ];
  for (const [more, said] of cases) {
    const refused = await runRanks(2, training('refused', ...more));
    expectExit(refused, 2);
    expect(refused.stderr).toContain(said);
  }
});
