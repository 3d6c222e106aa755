// 256 processes over 32 nodes of this machine, as a rented cluster of 32 x 8 has them: all start,
// all are seen, and all end.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { requestOf } from '../../src/core/plan/request/request.js';
import type { FaultHosts } from '../cluster/support/hosts.js';
import { crowdedHosts } from '../cluster/support/manyRanks.js';
import { eventsOf, measured, seconds, untilEvent, untilOver } from '../cluster/support/runs.js';

let hosts: FaultHosts;
let profile: Profile;
beforeAll(async () => {
  ({ hosts, profile } = await crowdedHosts(32, 8));
}, 600_000);
afterAll(() => hosts.stop(), 120_000);

test('256 processes of an own program', async () => {
  const machine = hosts.machine(profile);
  const begun = Date.now();
  const words = ['sh', '-c', 'echo rank $PMI_RANK; sleep 30; echo over'];
  const request = requestOf({ profile, words, cwd: '/', per: 'slot' });
  const { dir } = await machine.start(request);
  measured(19, `32 nodes have joined after ${seconds(Date.now() - begun)}`);
  await untilEvent(dir, 'rank_started', 300, ({ rank }) => rank === 255);
  const { state } = await untilOver(machine, dir, 600);
  const started = eventsOf(dir).filter(({ kind }) => kind === 'rank_started');
  const ended = eventsOf(dir).filter(({ kind }) => kind === 'rank_exited');
  expect(started).toHaveLength(256);
  expect(ended).toHaveLength(256);
  const times = started.map(({ time }) => time);
  measured(19, `256 processes started within ${seconds((Math.max(...times) - Math.min(...times)) * 1000)}`);
  expect(state).toMatchObject({ phase: 'finished', exitCode: 0, generation: 1 });
}, 900_000);
