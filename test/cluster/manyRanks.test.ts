// More ranks than cores over several nodes: all end well, though they end one after the other. Ten
// times 24 ranks are in test/faults/manyRanks.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Profile } from '../../src/core/profiles/schema.js';
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
