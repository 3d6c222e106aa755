// A run keeps a spare node, which takes the place of a node that is killed for good.
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endAllOf, practiceHosts, type FaultHosts } from './support/hosts.js';
import {
  eventsOf,
  linesOf,
  measured,
  seconds,
  startRun,
  stateOf,
  training,
  untilEvent,
  untilOver,
  untilStep,
} from './support/runs.js';

const steps = 1500;

let hosts: FaultHosts;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 3 });
});
afterAll(() => hosts.stop());

test('a spare node takes the place of a lost one at once, with as many ranks, and the run finishes', async () => {
  const machine = hosts.machine();
  const words = training(steps, '--batch-size', '8', '--checkpoint-every', '50', '--keep', '3');
  const dir = await startRun(machine, { ...hosts.profile, spares: 1 }, words);
  await untilStep(dir, 60);
  const [, second, third] = hosts.profile.hosts ?? [];
  const before = stateOf(dir);
  expect(before?.ranks.map(({ host }) => host)).not.toContain(third?.host);
  expect(before?.nodes?.map(({ state, spare }) => [state, spare])).toEqual([
    ['joined', undefined],
    ['joined', undefined],
    ['joined', true],
  ]);
  await endAllOf(dirname(hosts.homes[1] ?? '')); // as if its power were cut
  const lost = await untilEvent(dir, 'node_lost', 60);
  expect(lost.host).toBe(second?.host);
  const replaced = await untilEvent(dir, 'nodes_replaced', 60);
  expect(replaced).toMatchObject({ hosts: [second?.host], by: [third?.host] });
  const again = await untilEvent(dir, 'started', 60, ({ generation }) => generation > 1);
  expect(again.world).toBe(2);
  measured(7, `a spare took the place of a lost node after ${seconds((again.time - lost.time) * 1000)}`);
  const waits = eventsOf(dir).filter(({ kind, time }) => kind === 'waiting_for_nodes' && time > lost.time);
  expect(waits).toEqual([]);
  const { state } = await untilOver(machine, dir, 150);
  expect(state).toMatchObject({ phase: 'finished', world: 2 });
  const starts = linesOf(dir, 'metrics.jsonl').filter(({ kind }) => kind === 'start');
  expect(starts.map((line) => [line['world'], line['global_batch']])).toEqual([
    [2, 16],
    [2, 16],
  ]);
}, 300_000);
