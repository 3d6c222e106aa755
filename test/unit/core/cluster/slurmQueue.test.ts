// How often Slurm is asked, and what serves where it gives no answer.
import { afterEach, expect, it, vi } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { SlurmQueue, type SlurmQueueOptions } from '../../../../src/core/cluster/slurmQueue.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';

afterEach(() => {
  vi.restoreAllMocks();
});

const line = (job: string): string => `${job}|PENDING|2026-11-24T23:04:17|1:00:00|work|1||Priority`;
const entryOf = (job: string): RunEntry => {
  const run = { slurm: { job, requeue: false, layout: [] } };
  return { id: 'r', dir: '/r', run, state: null, interrupted: true, elsewhere: null } as unknown as RunEntry;
};

function queueOf(): {
  queue: SlurmQueue;
  fails: { now: boolean };
  asked: () => number;
  pass: (ms: number) => void;
} {
  let asked = 0;
  let passed = 0;
  const fails = { now: false };
  const start = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => start + passed);
  const request = (): Promise<object> => {
    asked += 1;
    if (fails.now) return Promise.reject(new UserError('connection', 'squeue gives no answer', ''));
    return Promise.resolve({ mine: line('5'), waiting: '', ended: [], records: '' });
  };
  const withBootstrap = (task: (bootstrap: object) => Promise<unknown>) => task({ request });
  const queue = new SlurmQueue({ withBootstrap } as unknown as SlurmQueueOptions);
  const pass = (ms: number): void => {
    passed += ms;
  };
  return { queue, fails, asked: () => asked, pass };
}

it('where Slurm gives no answer the last one serves all who ask, and the pause holds', async () => {
  const { queue, fails, asked, pass } = queueOf();
  const entries = [entryOf('5')];
  const before = await queue.entries(entries);
  expect(before[0]?.queue?.job).toBe('5');
  pass(20_000);
  fails.now = true;
  const both = await Promise.all([queue.entries(entries), queue.entries(entries)]);
  expect(both).toEqual([before, before]);
  expect(asked()).toBe(2);
  pass(5_000);
  await queue.entries(entries);
  expect(asked()).toBe(2);
  pass(300_000);
  await expect(queue.entries(entries)).rejects.toThrow('squeue gives no answer');
  const failed = asked();
  await expect(queue.entries(entries)).rejects.toThrow('squeue gives no answer');
  expect(asked()).toBe(failed);
  pass(60_000);
  fails.now = false;
  expect((await queue.entries(entries))[0]?.queue?.job).toBe('5');
});

it('a new job of which nothing could be heard leaves what is known of others', async () => {
  const { queue, fails, asked, pass } = queueOf();
  const before = await queue.entries([entryOf('5')]);
  fails.now = true;
  pass(1_000);
  await expect(queue.entries([entryOf('5'), entryOf('6')])).rejects.toThrow('squeue gives no answer');
  expect(await queue.entries([entryOf('5')])).toEqual(before);
  expect(asked()).toBe(2);
});
