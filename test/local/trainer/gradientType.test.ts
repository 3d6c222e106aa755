// Gradients that travel as bf16: what is learned beside fp32, and what is said of the type.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMetric } from '../../../src/core/contracts/metricsSchema.js';
import type { Metric } from '../../../src/core/contracts/metricsSchema.js';
import {
  checkpointName,
  expectExit,
  largestDistance,
  readLines,
  readTensors,
  runRanks,
  runTrainer,
  temporaryFolder,
} from '../../support/harness.js';

const folder = temporaryFolder('gradient-type');
const data = join(folder.path, 'data');
const dirOf = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:4x120', '--to', data, '--validation', '0.1']), 0);
});
afterAll(folder.remove);

const training = (name: string, ...more: string[]): string[] => {
  const model = ['--model', 'mlp', '--data', join(data, 'train'), '--lr', '0.05'];
  return ['train', ...model, '--run-dir', dirOf(name), ...more];
};
const weights = (name: string, step: number): ReturnType<typeof readTensors> =>
  readTensors(join(dirOf(name), 'checkpoints', checkpointName(step), 'model.safetensors'));
const ofKind = <K extends Metric['kind']>(name: string, kind: K): Extract<Metric, { kind: K }>[] =>
  readLines(join(dirOf(name), 'metrics.jsonl'))
    .map(parseMetric)
    .filter((line): line is Extract<Metric, { kind: K }> => line.kind === kind);

describe('gradients that travel as bf16', () => {
  const losses = (name: string): number[] => ofKind(name, 'step').map(({ loss }) => loss ?? NaN);
  const parts = ['--steps', '20', '--log-every', '1'];

  it.each([
    ['direct', []],
    ['ring', ['--allreduce', 'ring']],
  ])('%s: learn as fp32 does, within 1% of the loss', async (title, flags) => {
    for (const workers of [1, 4]) {
      const each = [...parts, '--batch-size', String(32 / workers), ...flags];
      const [wide, narrow] = [`fp32${title}-${workers}`, `bf16${title}-${workers}`];
      expectExit(await runRanks(workers, training(wide, ...each)), 0);
      expectExit(await runRanks(workers, training(narrow, ...each, '--gradient-type', 'bf16')), 0);
      const { distance } = largestDistance(weights(narrow, 20), weights(wide, 20));
      if (workers === 1) {
        expect(distance).toBe(0);
        continue;
      }
      expect(ofKind(narrow, 'start')[0]?.all_reduce).toBe(title);
      expect(distance).toBeGreaterThan(0);
      expect(distance).toBeLessThan(0.01);
      for (const [step, loss] of losses(narrow).entries()) {
        expect(Math.abs(loss / (losses(wide)[step] ?? NaN) - 1), `step ${step}`).toBeLessThan(0.01);
      }
    }
  });

  it('a resume with another type says so and goes on; servers have no use for it', async () => {
    expectExit(
      await runRanks(2, training('resumed', '--steps', '4', '--batch-size', '16', '--gradient-type', 'bf16')),
      0,
    );
    const on = await runRanks(2, training('resumed', '--steps', '6', '--batch-size', '16'));
    expectExit(on, 0);
    expect(on.stderr).toContain('gradient_type: bf16, now fp32');
    const served = await runRanks(
      3,
      training('served', '--gradient-type', 'bf16', '--strategy', 'parameter-server'),
    );
    expectExit(served, 2);
    expect(served.stderr).toContain('--gradient-type has no meaning with --strategy parameter-server');
  });
});
