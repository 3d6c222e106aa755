// The head of a run loses its power in mid-run, and comes back as a machine that was started anew:
// another boot id, pids given again.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteRunFolders } from '../../../src/core/follow/deletion.js';
import { statusOf } from '../../../src/core/model/runStatus.js';
import { until } from '../../support/harness.js';
import { pidsIn, unavailable, type NamespaceCluster } from '../../support/namespaces.js';
import { separateHosts, type FaultHosts } from '../support/hosts.js';
import {
  detailsOf,
  endless,
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

/** Beyond the 20 s that the contracts name, for a machine of two cores under load. */
const margin = 8_000;

const argvOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // gone meanwhile
  }
};

/** Field 22 of /proc/PID/stat. */
const startTimeOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
};

describe.skipIf(unavailable !== undefined)(`the head reboots (${unavailable ?? 'namespaces'})`, () => {
  let hosts: FaultHosts;
  let network: NamespaceCluster;
  beforeAll(async () => {
    ({ hosts, network } = await separateHosts(2));
  });
  afterAll(() => hosts.stop());

  test('in mid-run: the other node is clear of ranks in time, the run goes on from its newest checkpoint, bystanders live, delete leaves nothing on either', async () => {
    const words = training(endless, '--checkpoint-every', '50', '--keep', '3');
    const dir = await startRun(hosts.machine(), hosts.profile, words);
    await untilEvent(dir, 'checkpoint', 60);
    const [head, other] = [network.hosts[0]!, network.hosts[1]!];
    const ranks = (): string[] =>
      pidsIn(other.namespace)
        .map(argvOf)
        .filter((argv) => /\/trainer train |hydra_pmi_proxy/.test(argv));
    expect(ranks()).not.toEqual([]);

    const lostAt = Date.now();
    network.powerOff(head);
    await until('the other node to be clear of ranks', () => ranks().length === 0, 60);
    const clear = Date.now() - lostAt;
    expect(clear).toBeLessThan(20_000 + margin);

    // By chance somebody else's process has the pid of a rank, and began as many ticks after the
    // boot.
    const bystander = spawn('sleep', ['600'], { stdio: 'ignore' });
    try {
      const state = JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')) as Record<string, object> & {
        ranks: object[];
      };
      const taken = { pid: bystander.pid, startTime: startTimeOf(bystander.pid!) };
      Object.assign(state['supervisor']!, taken);
      for (const rank of state.ranks) Object.assign(rank, taken);
      writeFileSync(join(dir, 'state.json'), `${JSON.stringify(state)}\n`);

      await network.powerOn(head);
      const machine = hosts.machine();
      await expect
        .poll(async () => statusOf(await detailsOf(machine, dir)), { timeout: 60_000 })
        .toBe('interrupted');
      const { checkpoints } = await (
        await machine.node.client()
      ).request('checkpoint.list', { dir, verify: true });
      const newest = Math.max(...checkpoints.filter(({ valid }) => valid).map(({ step }) => step));
      expect(await startRun(machine, hosts.profile, words, { runDir: dir })).toBe(dir);
      await untilStep(dir, newest + 60, 90);
      const again = linesOf(dir, 'metrics.jsonl').find(
        (line) => line.kind === 'start' && line['generation'] === stateOf(dir)?.generation,
      );
      expect(again?.['resumed_from']).toBe(`step-${String(newest).padStart(8, '0')}`);
      expect(stateOf(dir)?.generation).toBe(2);
      await machine.stop(dir, 'now');
      const over = await untilOver(machine, dir);
      const deletion = await deleteRunFolders(machine, hosts.profile, over);
      expect(deletion).toMatchObject({ stayCount: 0, folderStays: false, unreached: [] });
      for (const { home } of [head, other]) {
        expect(existsSync(join(home, '.trainyard/runs', over.id))).toBe(false);
      }
      expect(bystander.exitCode).toBeNull();
      expect(bystander.signalCode).toBeNull();
      measured(5, `head without power: the other node clear of ranks after ${seconds(clear)}`);
    } finally {
      bystander.kill('SIGKILL');
    }
  });
});
