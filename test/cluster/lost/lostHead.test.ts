// The head of a run is lost for good. Another node kept a copy of the run folder, and the run goes
// on there, with the nodes that are left.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { cli, expectExit, runCli, start, until, type Outcome, type Running } from '../../support/harness.js';
import { unavailable, type NamespaceCluster } from '../../support/namespaces.js';
import { separateHosts, type FaultHosts } from '../support/hosts.js';
import {
  endless,
  eventsOf,
  linesOf,
  measured,
  seconds,
  stateOf,
  training,
  untilEvent,
  untilStep,
} from '../support/runs.js';

let hosts: FaultHosts;
let network: NamespaceCluster;
let names: string[];
const followers: Running[] = [];

const file = (): string => join(hosts.trainyardHome, 'profiles.json');
const saved = (profile: Profile): void => {
  writeFileSync(file(), JSON.stringify({ version: 1, profiles: [profile] }));
};
const lab = (): Profile => (JSON.parse(readFileSync(file(), 'utf8')) as { profiles: [Profile] }).profiles[0];
const env = (): NodeJS.ProcessEnv => ({ ...process.env, TRAINYARD_HOME: hosts.trainyardHome });
const trainyard = (...words: string[]): Promise<Outcome> => runCli(words, { env: env() });
const folderOn = (index: number, id: string): string => join(hosts.homes[index] ?? '', '.trainyard/runs', id);

describe.skipIf(unavailable !== undefined)(`the head is lost (${unavailable ?? 'namespaces'})`, () => {
  beforeAll(async () => {
    ({ hosts, network } = await separateHosts(3));
    names = (hosts.profile.hosts ?? []).map(({ host }) => host);
    saved({ ...hosts.profile, name: 'lab', mirror: names[1] });
  });
  afterAll(async () => {
    for (const { child } of followers) child.kill('SIGKILL');
    await hosts.stop();
  });

  test('a run whose head is lost goes on under the node that kept a copy of its folder', async () => {
    const [head = '', mirror = '', third = ''] = names;
    const words = training(endless, '--batch-size', '8', '--checkpoint-every', '50', '--keep', '2');
    const begun = await trainyard('run', 'lab', '--detach', '--json', '--', ...words);
    expectExit(begun, 0);
    const id = /"id":"([^"]+)"/.exec(begun.stdout)?.[1] ?? '';
    const dir = folderOn(0, id);
    const follower = start(process.execPath, [cli, 'attach', 'last'], { env: env() });
    followers.push(follower);
    const first = await untilEvent(dir, 'mirrored', 60);
    expect(first).toMatchObject({ host: mirror });
    const copied = await untilEvent(dir, 'mirrored', 60, ({ time }) => time > first.time);
    const made = eventsOf(dir).find(
      (event) => event.kind === 'checkpoint' && event.path.endsWith(copied.checkpoint),
    );
    measured(
      20,
      `a checkpoint was copied ${seconds((copied.time - (made?.time ?? 0)) * 1000)} after it was there`,
    );

    // While the head is there, the run stays with it.
    const refused = await trainyard('resume', 'last', '--head', mirror);
    expectExit(refused, 2);
    expect(refused.stderr).toMatch(new RegExp(`is (running|starting) on ${head}, which is its head`));
    expect(lab().head ?? head).toBe(head);
    const without = await trainyard('resume', 'last', '--head', third);
    expectExit(without, 2);
    expect(stateOf(dir)?.mirror).toMatchObject({ host: mirror, why: null });

    network.powerOff(network.hosts[0]!);
    const lostAt = Date.now();
    await until(
      'the follower to say how the run goes on',
      () => follower.stderr.includes(`trainyard resume ${id} --head ${mirror}`),
      60,
    );
    follower.child.kill('SIGKILL');
    const resumed = await trainyard('resume', 'last', '--head', mirror, '--detach', '--json');
    expectExit(resumed, 0);
    expect(resumed.stderr).toContain(
      `${mirror} is the head of profile lab from now on, and ${head} its mirror`,
    );
    expect(lab()).toMatchObject({ head: mirror, mirror: head });

    const copy = folderOn(1, id);
    expect(existsSync(join(copy, 'mirror'))).toBe(false);
    await until(
      'the second start',
      () => linesOf(copy, 'metrics.jsonl').filter(({ kind }) => kind === 'start').length > 1,
      60,
    );
    expect(stateOf(copy)).toMatchObject({ phase: 'running', world: 2, generation: 2 });
    expect(new Set(stateOf(copy)?.ranks.map(({ host }) => host))).toEqual(new Set([mirror, third]));
    expect(eventsOf(copy)).toContainEqual(
      expect.objectContaining({ kind: 'head_changed', from: head, to: mirror }),
    );
    const starts = linesOf(copy, 'metrics.jsonl').filter(({ kind }) => kind === 'start');
    expect(starts.map((line) => [line['world'], line['global_batch']])).toEqual([
      [3, 24],
      [2, 24],
    ]);
    const from = Number(/\d{8}$/.exec(String(starts[1]?.['resumed_from']))?.[0]);
    expect(from).toBeGreaterThanOrEqual(Number(/\d{8}$/.exec(copied.checkpoint)?.[0]));
    const again = eventsOf(copy).find(({ kind, generation }) => kind === 'started' && generation > 1);
    measured(20, `the run went on ${seconds((again?.time ?? 0) * 1000 - lostAt)} after its head was lost`);
    await untilStep(copy, from + 60);
    // The new head is asked from now on.
    expect((await trainyard('runs', 'lab')).stdout).toContain(id);
    expectExit(await trainyard('stop', 'last', '--now'), 0);
    await until('the run to be over', () => stateOf(copy)?.phase === 'stopped', 60);

    // What the old head has is the run's too, and goes with it.
    expect(existsSync(join(dir, 'run.json'))).toBe(true);
    await network.powerOn(network.hosts[0]!);
    expectExit(await trainyard('delete', 'last', '--yes'), 0);
    expect([dir, copy].filter((folder) => existsSync(folder))).toEqual([]);
  }, 400_000);
});
