// What the row of a cluster says of its nodes and of its queue.
import { expect, it } from 'vitest';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';
import { nodesText, queueText } from '../../../../src/ui/tree/clusterSums.js';

const process = { pid: 7, memory_used: null };
const sample = (...busy: boolean[]): HostSample => ({
  ...{ time: 1, host: 'gpu1', cpu_percent: 0, memory_used: 1, memory_total: 2, disk_free: null },
  gpus: busy.map((isBusy, index) => ({
    ...{ index, uuid: 'u', name: 'H100', memory_used: 0, memory_total: 1, utilization: 0 },
    ...{ temperature: null, power_watts: null, processes: isBusy ? [process] : [] },
  })),
});

it('counts nodes, GPUs, and those that somebody holds', () => {
  expect(nodesText([sample(true, true), sample(true, false)])).toBe('2 nodes, 4 GPUs, 3 busy');
  expect(nodesText([sample()])).toBe('1 node, no GPU');
});

it('counts a GPU that a run has locked, though nothing computes on it yet', () => {
  const { gpus, ...host } = sample(false);
  const held = gpus.map((gpu) => ({ ...gpu, held_by: { run: '', dir: '', host: 'gpu1', pid: 9, since: 1 } }));
  expect(nodesText([{ ...host, gpus: held }])).toBe('1 node, 1 GPU, 1 busy');
});

it('says how many nodes are silent, and nothing while all are', () => {
  expect(nodesText([sample(true), undefined])).toBe('2 nodes, 1 GPU, 1 busy, 1 silent');
  expect(nodesText([undefined])).toBeUndefined();
  expect(nodesText([])).toBeUndefined();
});

it('counts what waits in the queue and what is under way', () => {
  expect(queueText(['queued', 'finished', 'unknown'])).toBe('queued 1, running 0');
  expect(queueText(['starting', 'running', 'failed'])).toBe('queued 0, running 2');
});
