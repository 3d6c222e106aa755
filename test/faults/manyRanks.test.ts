// 24 ranks over 24 nodes of this machine, ten times: each time the run has finished.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import type { FaultHosts } from '../cluster/support/hosts.js';
import { crowdedHosts, trainOnAll } from '../cluster/support/manyRanks.js';

let hosts: FaultHosts;
let profile: Profile;
beforeAll(async () => {
  ({ hosts, profile } = await crowdedHosts(24, 1));
});
afterAll(() => hosts.stop());

test.each(Array.from({ length: 10 }, (_, index) => index + 1))(
  'run %i of 10: finished, and every rank ended by itself',
  async () => {
    const { state, odd } = await trainOnAll(hosts, profile, 600);
    expect(state).toMatchObject({ phase: 'finished', exitCode: 0, generation: 1 });
    expect(odd).toEqual([]);
  },
);
