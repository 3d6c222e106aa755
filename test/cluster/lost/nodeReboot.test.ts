// A node of a run loses its power in mid-run, and comes back as a machine that was started anew:
// nothing of the run lives there, and who follows the run lets it join again.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/core/base/errors.js';
import { DisposableStore } from '../../../src/core/base/lifecycle.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { Clusters } from '../../../src/core/follow/clusters.js';
import { LostOnClusters } from '../../../src/core/follow/lostOnClusters.js';
import { RunsMonitor } from '../../../src/core/follow/runsMonitor.js';
import { ProfileStore } from '../../../src/core/profiles/store.js';
import { cli, start, until, type Running } from '../../support/harness.js';
import { unavailable, type NamespaceCluster } from '../../support/namespaces.js';
import { separateHosts, type FaultHosts } from '../support/hosts.js';
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
} from '../support/runs.js';

const words = training(endless, '--checkpoint-every', '50', '--keep', '3');

describe.skipIf(unavailable !== undefined)(`a node reboots (${unavailable ?? 'namespaces'})`, () => {
  let hosts: FaultHosts;
  let network: NamespaceCluster;
  const followers: Running[] = [];
  const editor = new DisposableStore();
  beforeAll(async () => {
    ({ hosts, network } = await separateHosts(2));
  });
  afterAll(async () => {
    editor.dispose();
    for (const { child } of followers) child.kill('SIGKILL');
    await hosts.stop();
  });

  /** A terminal that stays with the run. */
  function attach(dir: string): Running {
    const env = { ...process.env, TRAINYARD_HOME: hosts.trainyardHome };
    const follower = start(process.execPath, [cli, 'attach', dir, '--profile', hosts.profile.name], { env });
    followers.push(follower);
    return follower;
  }

  /** What an editor has without a window: it is connected, and its monitor looks at the runs. */
  async function edit(): Promise<void> {
    const store = new ProfileStore(hosts.trainyardHome);
    const clusters = new Clusters(
      () => store,
      () => hosts.machine(),
    );
    editor.add(clusters);
    const monitor = editor.add(
      new RunsMonitor(
        () => clusters.list(),
        () => 2000,
      ),
    );
    editor.add(new LostOnClusters(clusters, monitor, nullLogger));
    await (await clusters.get(hosts.profile.name)).machine();
    await monitor.refresh();
  }

  /** The second node is away until the run waits for it. Resolves once both compute again. */
  async function reboot(dir: string): Promise<void> {
    const other = network.hosts[1]!;
    network.powerOff(other);
    const lost = await untilEvent(dir, 'node_lost', 60);
    const waiting = await untilEvent(dir, 'waiting_for_nodes', 60, ({ time }) => time > lost.time);
    expect(waiting.hosts).toEqual([other.address]);
    const backAt = Date.now();
    await network.powerOn(other);
    const again = await untilEvent(dir, 'started', 90, ({ generation }) => generation === 2);
    const joined = Date.now() - backAt;
    expect(again.world).toBe(2);
    await until(
      'both ranks to go on',
      () => linesOf(dir, 'metrics.jsonl').some((line) => line['generation'] === 2 && line.kind === 'step'),
      60,
    );
    const starts = linesOf(dir, 'metrics.jsonl').filter(({ kind }) => kind === 'start');
    expect(starts.at(-1)).toMatchObject({
      world: 2,
      resumed_from: expect.stringMatching(/\d{8}$/) as string,
    });
    expect(stateOf(dir)).toMatchObject({ phase: 'running', generation: 2, world: 2 });
    const joins = eventsOf(dir).filter(
      (event) => event.kind === 'node_joined' && event.host === other.address,
    );
    expect(joins).toHaveLength(2);
    measured(6, `node rebooted: all ranks began again ${seconds(joined)} after its sshd was back`);
  }

  test('in mid-run, and takes part in the restart, since two terminals follow the run', async () => {
    const machine = hosts.machine();
    const dir = await startRun(machine, { ...hosts.profile, maxRestarts: 2 }, words);
    const terminals = [attach(dir), attach(dir)];
    await untilEvent(dir, 'checkpoint', 60);
    await until('the terminals to show steps', () =>
      terminals.every(({ stdout }) => stdout.includes('images/s')),
    );
    await reboot(dir);
    const { address, home } = network.hosts[1]!;
    for (const terminal of terminals) {
      const says = (): boolean => terminal.stdout.includes(`${address} is back and joins again`);
      await until('the terminal to say so', says, 20);
    }

    // The key stands in a file that nobody else reads, as at the start.
    const file = join(home, '.trainyard/runs', basename(dir), 'nodes', address, 'join.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(join(dir, 'nodes', address, 'not-joined.json'))).toBe(false);
    const { key } = JSON.parse(readFileSync(file, 'utf8')) as { key: string };
    for (const { stdout } of terminals) expect(stdout).not.toContain(key);
    await machine.stop(dir, 'now');
    await untilOver(machine, dir);
    for (const terminal of terminals) expect((await terminal.ended).code).toBe(exitCodes.stopped);
  });

  test('the same, since an editor is connected that shows no run', async () => {
    const machine = hosts.machine();
    const dir = await startRun(machine, { ...hosts.profile, maxRestarts: 2 }, words);
    await untilEvent(dir, 'checkpoint', 60);
    await edit();
    await reboot(dir);
    await machine.stop(dir, 'now');
    await untilOver(machine, dir);
  });
});
