import { expect, it } from 'vitest';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';
import { gpuHolder, gpuHolders, lockHolder } from '../../../../src/core/model/hosts/gpuHolders.js';

const free: HostSample['gpus'][number] = {
  index: 0,
  uuid: 'GPU-1',
  name: 'H100',
  memory_used: 0,
  memory_total: 1,
  utilization: null,
  temperature: null,
  power_watts: null,
  processes: [],
};
const lock = { run: 'r1', dir: '/w/r1', host: 'a', pid: 7, since: 1 };
const rank = { pid: 9, user: 'ada', memory_used: 1, command: 'trainer train', run: 'r1' };
const stranger = { pid: 4242, user: 'bob', memory_used: null, command: 'python3 t.py', run: null };

it('a free GPU has no holder', () => {
  expect(gpuHolder(free)).toBeUndefined();
  expect(gpuHolders({ ...free, held_by: null })).toEqual([]);
});

it('the run of the lock comes first, and its own ranks are not told again', () => {
  const held = { ...free, held_by: lock, processes: [rank, stranger] };
  expect(lockHolder(held)).toBe('run r1 (process 7)');
  expect(gpuHolders(held)).toEqual(['run r1 (process 7)', 'process 4242 of bob (python3 t.py)']);
  expect(gpuHolder(held)).toBe('run r1 (process 7) and 1 more');
});

it.each([
  [{ ...lock, run: '' }, 'a run that is being started (process 7)'],
  [{ ...lock, run: '', pid: 0 }, 'a run that is being started'],
])('a lock of a run without an id: %j', (held_by, words) => {
  expect(gpuHolder({ ...free, held_by })).toBe(words);
});

it('processes without a lock', () => {
  expect(gpuHolder({ ...free, processes: [rank] })).toBe('run r1 (process 9)');
  expect(gpuHolder({ ...free, processes: [{ pid: 4, memory_used: null }] })).toBe('process 4');
  const long = { ...stranger, command: 'x'.repeat(100) };
  expect(gpuHolder({ ...free, processes: [long] })).toBe(`process 4242 of bob (${'x'.repeat(59)}…)`);
});
