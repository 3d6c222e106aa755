// A node is killed for good while all compute: the run goes on with the nodes that are left, with
// the same global batch, to its end.
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endAllOf, practiceHosts, type FaultHosts } from './support/hosts.js';
import { eventsOf, linesOf, startRun, training, untilEvent, untilOver, untilStep } from './support/runs.js';

const steps = 1500;

let hosts: FaultHosts;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 2 });
});
afterAll(() => hosts.stop());

// Half a minute is given to a lost node before the others go on without it.
test('a run goes on with fewer nodes where minNodes allows it, with the same global batch, and finishes', async () => {
  const machine = hosts.machine();
  const profile = { ...hosts.profile, minNodes: 1, maxRestarts: 2 };
  const words = training(steps, '--batch-size', '8', '--checkpoint-every', '50', '--keep', '3');
  const dir = await startRun(machine, profile, words);
  await untilEvent(dir, 'checkpoint', 60);
  await untilStep(dir, 60);
  await endAllOf(dirname(hosts.homes[1] ?? '')); // as if its power were cut
  const again = await untilEvent(dir, 'started', 120, ({ generation }) => generation > 1);
  expect(again.world).toBe(1);
  const { state } = await untilOver(machine, dir, 150);
  expect(state).toMatchObject({ phase: 'finished' });
  const metrics = linesOf(dir, 'metrics.jsonl');
  const starts = metrics.filter(({ kind }) => kind === 'start');
  expect(starts.map((line) => [line['world'], line['global_batch'], line['total_steps']])).toEqual([
    [2, 16, steps],
    [1, 16, steps],
  ]);
  expect(starts[1]?.['resumed_from']).toMatch(/\d{8}$/);
  expect(metrics.findLast(({ kind }) => kind === 'step')?.['step']).toBe(steps);
  expect(eventsOf(dir).filter(({ kind }) => kind === 'restarting')).toHaveLength(1);
}, 400_000);

test('a measurement of every device starts a process in each slot of each node', async () => {
  const both = await practiceHosts({ nodes: 2 });
  try {
    const machine = both.machine();
    const dir = await startRun(machine, both.profile, [
      'bench',
      'matmul',
      '--size',
      '64',
      '--seconds',
      '0.1',
    ]);
    expect((await untilOver(machine, dir)).state).toMatchObject({ phase: 'finished', world: 2 });
  } finally {
    await both.stop();
  }
});
