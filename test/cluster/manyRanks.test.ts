// More ranks than cores over several nodes: all end well, though they end one after the other. Ten
// times 24 ranks are in test/faults/manyRanks.test.ts.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Bootstrap } from '../../src/core/setup/bootstrap.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import type { FaultHosts } from './support/hosts.js';
import { crowdedHosts, trainOnAll } from './support/manyRanks.js';

let hosts: FaultHosts;
let profile: Profile;
beforeAll(async () => {
  ({ hosts, profile } = await crowdedHosts(6, 2));
});
afterAll(() => hosts.stop());

test('12 ranks on 6 nodes: the run has finished, and every rank ended by itself', async () => {
  const { state, odd } = await trainOnAll(hosts, profile, 170);
  expect(state).toMatchObject({ phase: 'finished', exitCode: 0, generation: 1 });
  expect(odd).toEqual([]);
});

test('each node is looked at once: few channels to its set-up program', async () => {
  const machine = hosts.machine(profile);
  await machine.connectAll();
  const opened = vi.spyOn(Bootstrap, 'open');
  try {
    const results = await machine.check(profile);
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    // One look, one port, one trial of the trainer, and one that becomes the agent.
    const perNode = opened.mock.calls.length / machine.nodes.length;
    expect(perNode).toBeLessThanOrEqual(4);
  } finally {
    opened.mockRestore();
  }
});
