// What `trainer bench` measures on several ranks: products and sums that are checked, and figures
// that add up.
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectExit, runRanks, runTrainer, temporaryFolder } from '../../support/harness.js';

interface Product {
  tflops: number;
  ranks: { rank: number; host: string; rows: number; tflops: number; ms: number }[];
}
interface Sum {
  bytes: number;
  ms: number;
  algorithm_gbs: number;
  bus_gbs: number;
  comm: string;
  all_reduce: string;
  gradient_type: string;
  sent_bytes: number | null;
  world: number;
  pair?: [number, number];
}
interface Steps {
  images: string;
  steps: number;
  seconds: number;
  step_ms: number;
  images_per_sec: number;
  input_wait_ms: number;
  world: number;
}
const folder = temporaryFolder('bench');
afterAll(folder.remove);
const lines = (text: string): string[] => text.trim().split('\n');

describe('trainer bench', () => {
  it('matmul shares the rows of a product among ranks and adds up what each does', async () => {
    const outcome = await runRanks(3, ['bench', 'matmul', '--size', '500', '--seconds', '0.2']);
    expectExit(outcome, 0);
    const product = JSON.parse(lines(outcome.stdout)[0] ?? '') as Product;
    expect(product.ranks.map(({ rows }) => rows)).toEqual([166, 167, 167]);
    for (const { rows, tflops, ms } of product.ranks)
      expect(tflops).toBeCloseTo((2 * 500 * 500 * rows) / ms / 1e9, 6);
    const together = product.ranks.reduce((sum, { tflops }) => sum + tflops, 0);
    expect(product.tflops).toBeCloseTo(together, 6);
    expect(together).toBeGreaterThan(0);
  });
  it('allreduce measures sums of growing size by the algorithm asked for', async () => {
    const argv = ['bench', 'allreduce', '--bytes', '100000', '--seconds', '0.05', '--allreduce', 'ring'];
    const outcome = await runRanks(3, argv);
    expectExit(outcome, 0);
    const sums = lines(outcome.stdout).map((line) => JSON.parse(line) as Sum);
    expect(sums.map(({ bytes }) => bytes)).toEqual([4096, 16_384, 65_536, 100_000]);
    for (const { bytes, ms, algorithm_gbs, bus_gbs, comm, all_reduce } of sums) {
      expect([comm, all_reduce]).toEqual(['mpi', 'ring']);
      expect(algorithm_gbs).toBeCloseTo(bytes / ms / 1e6, 6);
      expect(bus_gbs).toBeCloseTo((algorithm_gbs * 4) / 3, 6);
    }
  });
  it('allreduce sends half the bytes as bf16, and says nothing of what the MPI library sends', async () => {
    const argv = ['bench', 'allreduce', '--bytes', '240000', '--seconds', '0.01'];
    const largest = async (...flags: string[]): Promise<Sum> => {
      const outcome = await runRanks(3, [...argv, ...flags]);
      expectExit(outcome, 0);
      return JSON.parse(lines(outcome.stdout).at(-1) ?? '') as Sum;
    };
    expect(await largest()).toMatchObject({ all_reduce: 'library', gradient_type: 'fp32', sent_bytes: null });
    // 2 (n - 1) / n of the sum's bytes.
    const ring = ['--allreduce', 'ring'];
    expect(await largest(...ring)).toMatchObject({ all_reduce: 'ring', sent_bytes: 320_000 });
    const narrow = ['--gradient-type', 'bf16'];
    expect(await largest(...ring, ...narrow)).toMatchObject({ gradient_type: 'bf16', sent_bytes: 160_000 });
    expect(await largest(...narrow)).toMatchObject({ all_reduce: 'direct', sent_bytes: 160_000 });
  });
  it.each([2, 3, 4])(
    'allreduce --pairs lets each of %i ranks sum with every other one alone',
    async (ranks) => {
      const argv = ['bench', 'allreduce', '--bytes', '16384', '--seconds', '0.01', '--pairs'];
      const outcome = await runRanks(ranks, argv);
      expectExit(outcome, 0);
      const sums = lines(outcome.stdout).map((line) => JSON.parse(line) as Sum);
      const together = sums.filter(({ pair }) => pair === undefined);
      expect(together.map(({ bytes, world }) => [bytes, world])).toEqual([
        [4096, ranks],
        [16_384, ranks],
      ]);
      const alone = sums.slice(together.length);
      const all = Array.from({ length: ranks }, (_, a) =>
        Array.from({ length: ranks - a - 1 }, (__, b) => `${a},${a + b + 1}`),
      );
      expect(alone.map(({ pair }) => String(pair)).sort()).toEqual(all.flat());
      for (const { bytes, world, ms, algorithm_gbs, bus_gbs } of alone) {
        expect([bytes, world]).toEqual([16_384, 2]);
        expect(algorithm_gbs).toBeCloseTo(bytes / ms / 1e6, 6);
        expect(bus_gbs).toBeCloseTo(algorithm_gbs, 6);
      }
    },
  );
  it('a single rank has nothing to sum, and is told what to do', async () => {
    const outcome = await runTrainer(['bench', 'allreduce']);
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain('mpiexec -n 4 trainer bench allreduce');
  });
  it('more ranks than rows are refused', async () => {
    const outcome = await runRanks(2, ['bench', 'matmul', '--size', '1']);
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain('--size 1 does not fit 2 ranks');
  });
  it('step takes one synthetic batch again and again, and loads images of a folder', async () => {
    expectExit(await runTrainer(['prep', '--from', 'demo:2x20', '--to', folder.path]), 0);
    const measure = ['bench', 'step', '--model', 'mlp', '--image-size', '12', '--batch-size', '4'];
    const counts = ['--steps', '5', '--warmup', '2'];
    const single = await runTrainer([...measure, ...counts]);
    const ranks = await runRanks(2, [...measure, ...counts]);
    const loaded = await runTrainer([...measure, ...counts, '--data', join(folder.path, 'train')]);
    const kinds: string[] = [];
    for (const outcome of [single, ranks, loaded]) {
      expectExit(outcome, 0);
      const result = JSON.parse(lines(outcome.stdout)[0] ?? '') as Steps;
      kinds.push(result.images);
      expect(result.steps).toBe(5);
      expect(result.step_ms).toBeGreaterThan(0);
      if (result.images === 'fixed') expect(result.input_wait_ms).toBe(0);
    }
    expect(kinds).toEqual(['fixed', 'fixed', 'loaded']);
  });
  it('a flag of a measurement that is nearly right is named', async () => {
    const outcome = await runTrainer(['bench', 'step', '--batchsize', '3']);
    expectExit(outcome, 2);
    expect(outcome.stderr).toContain('Did you mean --batch-size? See trainer bench step --help');
  });
});
