// Data parallelism is arithmetic: two ranks of batch B are one rank of batch 2B.
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  checkpointName,
  expectExit,
  largestDistance,
  mpiexec,
  readLines,
  readTensors,
  run,
  runRanks,
  runTrainer,
  temporaryFolder,
  trainer,
  type Outcome,
} from '../../support/harness.js';

const folder = temporaryFolder('ranks');
const data = join(folder.path, 'data');

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:4x60', '--to', data, '--validation', '0.1']), 0);
});
afterAll(folder.remove);

async function weightsAfter(
  name: string,
  ranks: number,
  batch: number,
  steps: number,
  flags: string[],
): Promise<ReturnType<typeof readTensors>> {
  const dir = join(folder.path, name);
  const args = [
    'train',
    '--data',
    join(data, 'train'),
    '--run-dir',
    dir,
    '--steps',
    String(steps),
    '--batch-size',
    String(batch),
    '--lr',
    '0.05',
    ...flags,
  ];
  expectExit(await runRanks(ranks, args), 0);
  return readTensors(join(dir, 'checkpoints', checkpointName(steps), 'model.safetensors'));
}

it('ranks that read different data are named before the first step', async () => {
  const [fewer, other] = [join(folder.path, 'fewer'), join(folder.path, 'other')];
  for (const copy of [fewer, other]) cpSync(join(data, 'train'), copy, { recursive: true });
  const [first = ''] = readdirSync(fewer);
  const [image = ''] = readdirSync(join(fewer, first));
  rmSync(join(fewer, first, image));
  renameSync(join(other, first, image), join(other, first, `another-${image}`));
  const words = (from: string, dir: string): string[] => [
    ...['train', '--model', 'mlp', '--data', from, '--run-dir', join(folder.path, dir), '--steps', '10'],
    ...['--batch-size', '4', '--threads', '1'],
  ];
  const both = async (dir: string, second: string): Promise<Outcome> =>
    run(mpiexec, [
      ...['-launcher', 'fork', '-n', '1', trainer, ...words(join(data, 'train'), dir)],
      ...[':', '-n', '1', trainer, ...words(second, dir)],
    ]);
  const few = await both('of-fewer', fewer);
  expectExit(few, 3);
  expect(few.stderr).toMatch(
    /rank 1 and rank 0 do not read the same data in .*: they have 215 images of 4 classes and 216 images of 4 classes\. Give/,
  );
  const renamed = await both('of-other', other);
  expectExit(renamed, 3);
  expect(renamed.stderr).toContain(
    '216 images of 4 classes and 216 images of 4 classes, with other names or labels',
  );
  expect(existsSync(join(folder.path, 'of-other/checkpoints'))).toBe(false);
  const refused = await runRanks(2, [...words(join(data, 'train'), 'none'), '--comm', 'none']);
  expectExit(refused, 2);
  expect(refused.stderr).toContain('--comm none is for one process, and mpiexec started several');
});

describe('two ranks of batch B equal one rank of batch 2B', () => {
  it('mlp, ten steps, each tensor within 1e-6 by norm', async () => {
    const two = await weightsAfter('mlp-2', 2, 16, 10, ['--model', 'mlp']);
    const one = await weightsAfter('mlp-1', 1, 32, 10, ['--model', 'mlp']);
    const start = await weightsAfter('mlp-0', 1, 32, 1, ['--model', 'mlp']);
    expect(largestDistance(two, one).distance).toBeLessThan(1e-6);
    expect(largestDistance(start, one).distance).toBeGreaterThan(1e-3); // the weights did move
  });

  it('resnet20 with --sync-batch-norm, one step, each tensor within 1e-6 by norm', async () => {
    const flags = ['--model', 'resnet20', '--sync-batch-norm'];
    const two = await weightsAfter('sync-2', 2, 16, 1, flags);
    const one = await weightsAfter('sync-1', 1, 32, 1, flags);
    expect(largestDistance(two, one).distance).toBeLessThan(1e-6);
  });

  it('two ranks left of four that were planned do what four would: same batch, same learning rate', async () => {
    const flags = ['--model', 'mlp', '--lr-scale-by-world', '--warmup-epochs', '0.5'];
    const four = await weightsAfter('planned-4', 4, 8, 10, flags);
    const two = await weightsAfter('planned-2', 2, 8, 10, [...flags, '--planned-ranks', '4']);
    expect(largestDistance(two, four).distance).toBeLessThan(1e-6);
    const args = [
      'train',
      '--data',
      'synthetic',
      '--model',
      'mlp',
      '--batch-size',
      '8',
      '--planned-ranks',
      '4',
    ];
    const uneven = await runRanks(3, [...args, '--run-dir', join(folder.path, 'uneven')]);
    expect(uneven.code).not.toBe(0); // mpiexec's own code says no more than that
    expect(uneven.stderr).toContain('cannot be shared equally by 3 ranks');
  });

  it('two ranks left of four compute the micro-batches that four would, batch norm with them', async () => {
    const four = await weightsAfter('norms-4', 4, 8, 3, ['--model', 'resnet20']);
    const two = await weightsAfter('norms-2', 2, 8, 3, ['--model', 'resnet20', '--planned-ranks', '4']);
    // Running statistics are averages over a rank's own micro-batches, so they may differ.
    for (const weights of [four, two])
      for (const name of [...weights.keys()]) if (name.includes('running_')) weights.delete(name);
    expect(two.size).toBeGreaterThan(50);
    expect(largestDistance(two, four).distance).toBeLessThan(1e-5);
    const [started] = readLines(join(folder.path, 'norms-2', 'metrics.jsonl'));
    expect(started).toMatchObject({ world: 2, batch_size: 8, accumulate: 2, global_batch: 32 });
  });

  it('without it, batch norm sees half the batch, and the difference shows', async () => {
    const two = await weightsAfter('local-2', 2, 16, 1, ['--model', 'resnet20']);
    const one = await weightsAfter('local-1', 1, 32, 1, ['--model', 'resnet20']);
    expect(largestDistance(two, one).distance).toBeGreaterThan(1e-4);
  });
});
