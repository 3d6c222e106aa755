// A head without slots, as a login host or a file server is: it holds and supervises the run, and
// the ranks are on the other nodes.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodePath } from '../../src/core/base/nodePath.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { TensorBoards } from '../../src/core/tunnels/tensorboard.js';
import { until } from '../support/harness.js';
import { pidsIn, unavailable, type NamespaceCluster } from '../support/namespaces.js';
import { practiceHosts, separateHosts, type FaultHosts } from './support/hosts.js';
import {
  endless,
  eventsOf,
  linesOf,
  startRun,
  stateOf,
  training,
  untilEvent,
  untilOver,
  untilStep,
} from './support/runs.js';

/** Of these hosts, the first takes no rank. */
const withBareHead = ({ hosts = [], ...profile }: Profile, more: Partial<Profile> = {}): Profile => ({
  ...profile,
  hosts: hosts.map((host, index) => ({ ...host, slots: index === 0 ? 0 : 1 })),
  ...more,
});

describe.skipIf(unavailable)(
  `a head without slots, and two nodes that see its disk${unavailable ? ` (${unavailable})` : ''}`,
  () => {
    const disk = mkdtempSync(join(tmpdir(), 'trainyard-disk-'));
    let hosts: FaultHosts;
    let network: NamespaceCluster;
    let profile: Profile;
    let machine: SshMachine;
    let names: string[];

    beforeAll(async () => {
      ({ hosts, network } = await separateHosts(3, disk));
      profile = withBareHead(hosts.profile, { maxRestarts: 1, minNodes: 1 });
      machine = hosts.machine(profile);
      names = (profile.hosts ?? []).map(({ host }) => host);
    });
    afterAll(async () => {
      await hosts.stop();
      rmSync(disk, { recursive: true, force: true });
    });

    /** The head's run folder, as this test sees it. */
    const folderOf = (dir: string): string => join(disk, 'runs', basename(dir));
    const ranksOf = (folder: string): (string | undefined)[] =>
      stateOf(folder)?.ranks.map(({ host }) => host) ?? [];
    /** Trainers that compute on a host. */
    const trainersOn = (index: number): string[] =>
      pidsIn(network.hosts[index]?.namespace ?? '').flatMap((pid) => {
        const path = `/proc/${pid}/cmdline`;
        const words = existsSync(path) ? readFileSync(path, 'utf8').split('\0') : [];
        return words[0]?.endsWith('/trainer') && words[1] === 'train' ? [words.join(' ')] : [];
      });

    test('a killed rank starts all anew, and the run ends with its files on the head', async () => {
      const steps = 400;
      const words = training(steps, '--checkpoint-every', '50', '--eval-data', 'synthetic');
      const dir = await startRun(machine, profile, words);
      const folder = folderOf(dir);
      await untilStep(folder, 60);
      expect(ranksOf(folder)).toEqual(names.slice(1));
      expect([0, 1, 2].map((index) => trainersOn(index).length)).toEqual([0, 1, 1]);
      const [, second] = stateOf(folder)?.ranks ?? [];
      process.kill(second?.pid ?? 0, 'SIGKILL');

      const { run, state } = await untilOver(machine, dir, 120);
      expect(state).toMatchObject({ phase: 'finished', generation: 2, world: 2 });
      expect(run?.nodes?.map(({ slots }) => slots)).toEqual([0, 1, 1]);
      expect(state?.nodes?.map(({ host }) => host)).toEqual(names);
      const [restart] = eventsOf(folder).filter(({ kind }) => kind === 'restarting');
      expect(restart).toMatchObject({
        reason: expect.stringMatching(`^rank 1 on ${names[2]} was killed by signal 9`) as unknown,
        checkpoint: expect.stringContaining('step-0000') as unknown,
      });
      expect(readdirSync(join(folder, 'checkpoints'))).toContain('step-00000400');
      expect(
        linesOf(folder, 'metrics.jsonl')
          .filter(({ kind }) => kind === 'step')
          .at(-1)?.['step'],
      ).toBe(steps);
      expect(linesOf(folder, 'metrics.jsonl').some(({ kind }) => kind === 'eval')).toBe(true);
      for (const name of names) expect(linesOf(folder, `gpus/${name}.jsonl`).length).toBeGreaterThan(0);
      for (const rank of [0, 1]) expect(existsSync(join(folder, `logs/rank-${rank}.log`))).toBe(true);

      const boards = new TensorBoards({ howToOpen: 'open it so' });
      try {
        const { url } = await boards.open(machine, dir);
        const answer = await fetch(new URL('data/runs', url), { signal: AbortSignal.timeout(60_000) });
        expect(await answer.json()).toContain('train');
      } finally {
        boards.dispose();
      }
    });

    test('the packages of an own program are for its ranks, and made once on the disk', async () => {
      const requirements = join(disk, 'requirements.txt');
      writeFileSync(requirements, 'six\n');
      const words = ['python3', '-c', 'import six, sys; print(sys.prefix)'];
      const dir = await startRun(machine, profile, words, { per: 'slot', requirements });
      const { run, state } = await untilOver(machine, dir, 120);
      expect(state).toMatchObject({ phase: 'finished', reason: null });
      const [name = '', ...others] = readdirSync(join(disk, 'environments')).filter((one) => one !== 'locks');
      expect(others).toEqual([]);
      expect(basename(run?.environment?.path ?? '')).toBe(name);
      for (const rank of [0, 1]) {
        const text = readFileSync(join(folderOf(dir), `logs/rank-${rank}.log`), 'utf8');
        expect(basename(text.trim())).toBe(name);
      }
    });

    test('where the node of rank 0 is lost, rank 0 goes on another from the same checkpoints', async () => {
      const dir = await startRun(machine, profile, training(endless, '--checkpoint-every', '50'));
      const folder = folderOf(dir);
      await untilStep(folder, 60);
      const [, first] = network.hosts;
      if (first) network.cut(first);
      try {
        await untilEvent(folder, 'node_lost', 60);
        const started = await until(
          'the second generation',
          () => eventsOf(folder).find((event) => event.kind === 'started' && event.generation === 2),
          90,
        );
        expect(started).toMatchObject({ world: 1 });
        await until('a rank on the last node', () => ranksOf(folder)[0] === names[2], 30);
        const resumed = await until(
          'the training to go on',
          () =>
            linesOf(folder, 'metrics.jsonl').find(
              ({ kind, resumed_from: from }) => kind === 'start' && from !== null,
            ),
          30,
        );
        const [restart] = eventsOf(folder).filter((event) => event.kind === 'restarting');
        expect(basename(restart?.checkpoint ?? 'none')).toBe(resumed['resumed_from']);
      } finally {
        if (first) network.heal(first);
        await machine.stop(dir, 'now');
      }
      await untilOver(machine, dir);
    });

    test('a run folder that the node of rank 0 does not see is refused by the supervisor', async () => {
      const runDir = nodePath(join(network.hosts[0]?.home ?? '', 'own'));
      const dir = await startRun(machine, profile, training(5), { runDir });
      const { state } = await untilOver(machine, dir);
      expect(state?.phase).toBe('failed');
      expect(state?.reason).toContain(
        `rank 0 would be on ${names[1]}, which does not see the run folder ${runDir}`,
      );
    });
  },
);

describe('a head without slots, and a node with a disk of its own', () => {
  let hosts: FaultHosts;
  let profile: Profile;
  let machine: SshMachine;

  beforeAll(async () => {
    hosts = await practiceHosts({ nodes: 2 });
    profile = withBareHead(hosts.profile);
    machine = hosts.machine(profile);
  });
  afterAll(() => hosts.stop());

  test('a training is refused before anything is made', async () => {
    await expect(startRun(machine, profile, training(5))).rejects.toThrow(
      /rank 0 would be on 127\.0\.0\.3, which does not see ~\/\.trainyard of 127\.0\.0\.2/,
    );
    expect(existsSync(join(hosts.homes[0] ?? '', '.trainyard', 'runs'))).toBe(false);
  });

  test('an own program runs on the node, and its log is on the head', async () => {
    const dir = await startRun(machine, profile, ['sh', '-c', 'echo "$RANK of $WORLD_SIZE at $MASTER_ADDR"']);
    const { state } = await untilOver(machine, dir);
    expect(state).toMatchObject({ phase: 'finished', ranks: [{ host: '127.0.0.3' }] });
    expect(readFileSync(join(dir, 'logs/rank-0.log'), 'utf8')).toBe('0 of 1 at 127.0.0.3\n');
  });

  test('a check names its slots, and tries no trainer there', async () => {
    const results = await machine.check(profile);
    const of = (name: string): [string | undefined, string][] =>
      results.filter((each) => each.name === name).map(({ host, detail }) => [host, detail]);
    expect(of('slots')).toEqual([
      ['127.0.0.2', '0, it holds the runs'],
      ['127.0.0.3', '1'],
    ]);
    expect(of('trainer').map(([host]) => host)).toEqual(['127.0.0.3']);
    expect(of('libgomp').map(([host]) => host)).toEqual(['127.0.0.3']);
  });
});
