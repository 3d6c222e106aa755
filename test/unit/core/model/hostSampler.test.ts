import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HostSampler } from '../../../../src/core/model/hosts/hostSampler.js';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';

const sample: HostSample = {
  time: 1,
  host: 'h',
  cpu_percent: 1,
  memory_used: 1,
  memory_total: 2,
  disk_free: 3,
  gpus: [],
};
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('asks once a second while somebody looks, and not after', async () => {
  let asked = 0;
  const sampler = new HostSampler(() => {
    asked++;
    return Promise.resolve(sample);
  });
  const seen: unknown[] = [];
  sampler.onSample((result) => seen.push(result));
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toBe(0);
  sampler.start();
  sampler.start();
  await vi.advanceTimersByTimeAsync(3000);
  expect(asked).toBe(4);
  expect(seen[0]).toEqual({ sample });
  sampler.stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toBe(4);
});

it('never asks twice at once, and says what failed', async () => {
  let asked = 0;
  const sampler = new HostSampler(
    () =>
      new Promise((_, reject) => {
        asked++;
        setTimeout(() => {
          reject(new Error('slow'));
        }, 2500);
      }),
  );
  const seen: unknown[] = [];
  sampler.onSample((result) => seen.push(result));
  sampler.start();
  await vi.advanceTimersByTimeAsync(2600);
  expect(asked).toBe(1);
  expect(seen).toEqual([{ error: new Error('slow') }]);
  await vi.advanceTimersByTimeAsync(500);
  expect(asked).toBe(2);
  sampler.dispose();
});
