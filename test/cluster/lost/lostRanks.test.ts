// Fault 7: a rank dies, stops, or loses its link while all compute together.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodePath } from '../../../src/core/base/nodePath.js';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import type { NamespaceCluster } from '../../support/namespaces.js';
import { unavailable } from '../../support/namespaces.js';
import { form } from '../support/form.js';
import { practiceHosts, separateHosts, type FaultHosts } from '../support/hosts.js';
import {
  endless,
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
} from '../support/runs.js';

const words = training(endless, '--checkpoint-every', '50', '--keep', '3');

/** Whatever the rank was at. */
const stopped = / step \d+.*: it is stopped by a signal \(SIGSTOP or a debugger\)$/;

/** A moment after a checkpoint, so that there is one to go back to. */
async function begin(machine: SshMachine, profile: Profile): Promise<string> {
  const dir = await startRun(machine, profile, words);
  await untilEvent(dir, 'checkpoint', 40);
  return dir;
}

const rankOf = (dir: string, rank: number): { pid: number; host: string } => {
  const found = stateOf(dir)?.ranks.find((one) => one.rank === rank);
  if (!found) throw new Error(`rank ${rank} is not in the state`);
  return found;
};

/**
 * All ranks began again where the newest checkpoint that was valid then left off. That is the last
 * whole step of rank 0, where rank 0 `saves` it.
 */
async function expectRestart(dir: string, generation: number, saves: boolean): Promise<void> {
  const restarting = await untilEvent(dir, 'restarting', 60, (event) => event.generation === generation - 1);
  const started = await untilEvent(dir, 'started', 60, (event) => event.generation === generation);
  expect(started.world).toBe(2);
  await untilEvent(dir, 'rank_started', 30, (event) => event.generation === generation && event.rank === 1);
  const checkpoint = restarting.checkpoint ?? 'none';
  // That one was saved may be written down only after the restart that it is for, and never when
  // rank 0 ended right after saving it.
  const saved = eventsOf(dir).filter((event) => event.kind === 'checkpoint' && event.generation < generation);
  const newest = saved.at(-1);
  const stepOf = (path: string): number => Number(path.slice(-8));
  expect(newest?.kind === 'checkpoint' && stepOf(newest.path)).toBeLessThanOrEqual(stepOf(checkpoint));
  const ended = eventsOf(dir).find(
    (event) => event.kind === 'rank_exited' && event.generation === generation - 1 && event.rank === 0,
  );
  if (saves) expect(ended).toMatchObject({ last_step: stepOf(checkpoint) });
  const first = (): number =>
    Number(
      linesOf(dir, 'metrics.jsonl').find((l) => l.kind === 'step' && l['generation'] === generation)?.[
        'step'
      ],
    );
  const from = stepOf(checkpoint);
  await untilStep(dir, from + 10);
  await expect.poll(first, { timeout: 30_000 }).toBeGreaterThan(from);
  expect(first()).toBeLessThanOrEqual(from + 10);
  const begun = linesOf(dir, 'metrics.jsonl').find(
    (l) => l.kind === 'start' && l['generation'] === generation,
  );
  expect(begun?.['resumed_from']).toBe(checkpoint.split('/').at(-1));
}

describe('on one machine', () => {
  let hosts: FaultHosts;
  beforeAll(async () => {
    hosts = await practiceHosts({ nodes: 2 });
  });
  afterAll(() => hosts.stop());

  test('a rank that is killed is named, all begin again from the newest checkpoint, and the budget holds', async () => {
    const machine = hosts.machine();
    const dir = await begin(machine, { ...hosts.profile, maxRestarts: 1 });
    const victim = rankOf(dir, 1);
    const killedAt = Date.now() / 1000;
    process.kill(victim.pid, 'SIGKILL');
    const exited = await untilEvent(dir, 'rank_exited', 30, (event) => event.rank === 1);
    expect(exited).toMatchObject({ host: hosts.profile.hosts?.[1]?.host, pid: victim.pid, signal: 9 });
    await expectRestart(dir, 2, true);
    process.kill(rankOf(dir, 1).pid, 'SIGKILL');
    const { state } = await untilOver(machine, nodePath(dir));
    expect(state).toMatchObject({ phase: 'failed', generation: 2 });
    expect(state?.reason).toMatch(/rank 1 on 127\.0\.0\.3 was killed by signal 9/);
    expect(eventsOf(dir).filter(({ kind }) => kind === 'restarting')).toHaveLength(1);
    const again = eventsOf(dir).find((event) => event.kind === 'started' && event.generation === 2);
    measured(
      7,
      `rank killed: named after ${(exited.time - killedAt).toFixed(1)} s, all started again after ${((again?.time ?? NaN) - killedAt).toFixed(1)} s`,
    );
  });

  test.each(form([0], [0, 1]))('rank %i that stops is named, and all begin again', async (rank) => {
    const machine = hosts.machine();
    const dir = await begin(machine, { ...hosts.profile, maxRestarts: 1, hangTimeout: 10 });
    const stoppedAt = Date.now() / 1000;
    const { pid, host } = rankOf(dir, rank);
    process.kill(pid, 'SIGSTOP');
    const hang = await untilEvent(dir, 'hang', 30);
    const suspects = linesOf(dir, 'events.jsonl').find(({ kind }) => kind === 'hang')?.['suspects'];
    expect(suspects).toEqual([rank]);
    const doing = [{ rank, host, what: expect.stringMatching(stopped) as string }];
    expect(hang.doing).toEqual(doing);
    const stalled = eventsOf(dir).find(({ kind }) => kind === 'stalled');
    expect(stalled).toMatchObject({ waiting_for: [{ rank, host }], doing });
    const restarting = await untilEvent(dir, 'restarting', 30);
    expect(restarting.reason).toContain(`; rank ${rank} ${hang.doing?.[0]?.what}`);
    await expectRestart(dir, 2, rank !== 0);
    await machine.stop(nodePath(dir), 'now');
    measured(
      7,
      `rank ${rank} stopped, hangTimeout 10 s: seen after ${(hang.time - stoppedAt).toFixed(1)} s, ${JSON.stringify(hang.doing)}`,
    );
  });
});

describe.skipIf(unavailable !== undefined)(`on hosts apart (${unavailable ?? 'namespaces'})`, () => {
  let hosts: FaultHosts;
  let network: NamespaceCluster;
  beforeAll(async () => {
    ({ hosts, network } = await separateHosts(2));
  });
  afterAll(() => hosts.stop());

  test('a node whose link is silent is named within 30 s; when it heals, it joins and all go on', async () => {
    const machine = hosts.machine();
    const dir = await begin(machine, { ...hosts.profile, maxRestarts: 2 });
    const lostHost = network.hosts[1]!;
    const cutAt = Date.now();
    network.cut(lostHost);
    const lost = await untilEvent(dir, 'node_lost', 40);
    expect(lost.host).toBe(lostHost.address);
    const seen = lost.time * 1000 - cutAt;
    await untilEvent(dir, 'waiting_for_nodes', 30, (event) => event.time > lost.time);
    const healedAt = Date.now();
    network.heal(lostHost);
    await expectRestart(dir, 2, true);
    const joined = await untilEvent(dir, 'node_joined', 30, (event) => event.time > lost.time);
    expect(joined.host).toBe(lostHost.address);
    await machine.stop(nodePath(dir), 'now');
    const { state } = await untilOver(machine, nodePath(dir));
    expect(state?.phase).toBe('stopped');
    expect(readFileSync(join(dir, 'events.jsonl'), 'utf8').match(/"kind":"restarting"/g)).toHaveLength(1);
    measured(
      7,
      `link silent: node named after ${seconds(seen)}, joined again ${seconds(joined.time * 1000 - healedAt)} after healing`,
    );
    expect(seen).toBeLessThan(30_000);
  });
});
