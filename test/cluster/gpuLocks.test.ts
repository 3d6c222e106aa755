// GPUs of a run on several nodes: all of them are taken or none, and each node holds its own until
// the run is over. The GPUs are those of a stand-in for NVIDIA's libnvidia-ml.so.1.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { requestOf } from '../../src/core/plan/request/request.js';
import { expectExit, runCli, until } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { detailsOf, startRun, untilEvent, untilOver } from './support/runs.js';

const standIn = join(import.meta.dirname, '../../build/native/release/tests/agent/nvml');
const built = existsSync(join(standIn, 'libnvidia-ml.so.1'));
const rounds = process.env['TRAINYARD_FAULTS'] === 'long' ? 20 : 2;

describe.skipIf(!built)('two nodes of a GPU each (needs node scripts/native/native.mjs build)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-gpu-locks-'));
  let hosts: FaultHosts;
  let profile: Profile;
  const machines: SshMachine[] = [];

  beforeAll(async () => {
    const environments = [0, 1].map((node) => {
      const script = join(dir, `nvml-${node}`);
      writeFileSync(script, 'gpus 1\n');
      return {
        LD_LIBRARY_PATH: standIn,
        NVML_STAND_IN: script,
        TRAINYARD_GPU_LOCKS: join(dir, `locks-${node}`),
      };
    });
    hosts = await practiceHosts({ nodes: 2, environments });
    profile = hosts.profile;
    machines.push(hosts.machine(profile), hosts.machine(profile));
  });
  afterAll(async () => {
    await hosts.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const program = (until: string): string[] => [
    ...['sh', '-c', `while [ ! -e '${until}' ]; do sleep 0.1; done`, '--device', 'cuda'],
  ];
  const runs = (): string[] =>
    hosts.homes.flatMap((home) => {
      const folder = join(home, '.trainyard', 'runs');
      return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    });
  /** Of each node, which run holds its GPU. */
  const holders = (machine: SshMachine): Promise<(string | undefined)[]> =>
    Promise.all(
      machine.nodes.map(async ({ node }) => {
        const { gpus } = await (await node.client()).request('host.sample');
        return gpus[0]?.held_by?.run;
      }),
    );

  test('one of two starts in the same moment gets both GPUs, and of the other nothing is left', async () => {
    const [one, two] = machines;
    if (!one || !two) throw new Error('two machines are needed');
    for (let round = 0; round < rounds; round += 1) {
      const before = runs().length;
      const end = join(dir, `end-${round}`);
      const starts = await Promise.allSettled(
        [one, two].map((machine) => startRun(machine, profile, program(end), { ranks: 2 })),
      );
      const won = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const lost = starts.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
      expect(won).toHaveLength(1);
      expect(lost).toMatchObject([{ code: 'preflight' }]);
      expect(lost[0]?.message).toMatch(/GPU 0 (of \S+ is held|is taken) by /);
      const folder = won[0] ?? '';
      const id = folder.split('/').at(-1);
      expect(runs()).toHaveLength(before + 2);
      expect(await holders(one)).toEqual([id, id]);
      writeFileSync(end, '');
      const winner = starts[0]?.status === 'fulfilled' ? one : two;
      const { state } = await untilOver(winner, won[0] ?? ('' as never));
      expect(state).toMatchObject({ phase: 'finished', world: 2 });
      expect(await holders(one)).toEqual([undefined, undefined]);
    }
  });

  test('a node that refuses its GPU gives those of the other one back', async () => {
    const [machine, other] = machines;
    const second = await other?.nodes[1]?.node.client();
    if (!machine || !second) throw new Error('two machines are needed');
    const { gpus } = await second.request('host.sample');
    const names = gpus.map(({ index, uuid }) => ({ index, uuid }));
    const before = runs().length;
    const { locks } = await second.request('gpus.take', { gpus: names });
    const start = startRun(machine, profile, program('/'), { ranks: 2 });
    await expect(start).rejects.toThrow(/is taken by a run that is being started \(process \d+\)/);
    expect(runs()).toHaveLength(before);
    await second.request('gpus.give_back', { locks });
    expect(await holders(machine)).toEqual([undefined, undefined]);
  });

  test('two starts that wait for both nodes get them one after the other', async () => {
    const [one, two] = machines;
    const second = await two?.nodes[1]?.node.client();
    if (!one || !two || !second) throw new Error('two machines are needed');
    const { gpus } = await second.request('host.sample');
    const names = gpus.map(({ index, uuid }) => ({ index, uuid }));
    const { locks } = await second.request('gpus.take', { gpus: names });
    const ends = [join(dir, 'waits-one'), join(dir, 'waits-two')];
    const said = ['', ''];
    const starts = [one, two].map((machine, at) => {
      const onProgress = (text: string): void => {
        said[at] = text;
      };
      const words = program(ends[at] ?? '');
      return machine.start(requestOf({ profile, words, cwd: '/', ranks: 2, wait: true }), { onProgress });
    });
    const places = (): string =>
      said
        .map((text) => /\d(st|nd) in the queue/.exec(text)?.[0] ?? '')
        .sort()
        .join();
    await until('one to be first and one second', () => places() === '1st in the queue,2nd in the queue');
    const queues = await Promise.all(
      one.nodes.map(async ({ node }) => (await (await node.client()).request('host.sample')).waiting ?? []),
    );
    expect(queues[0]).toHaveLength(2);
    expect(queues[1]?.map(({ ticket, number }) => [ticket, number])).toEqual(
      queues[0]?.map(({ ticket, number }) => [ticket, number]),
    );
    await second.request('gpus.give_back', { locks });
    for (const end of ends) writeFileSync(end, '');
    const dirs = await Promise.all(starts.map(async (start) => (await start).dir));
    for (const [at, machine] of [one, two].entries()) {
      const { state } = await untilOver(machine, dirs[at] ?? ('' as never));
      expect(state).toMatchObject({ phase: 'finished', world: 2 });
    }
    expect(await holders(one)).toEqual([undefined, undefined]);
    for (const node of [0, 1]) expect(readdirSync(join(dir, `locks-${node}`, 'queue'))).toEqual([]);
  });

  test('runs that wait by themselves get both nodes in turn, also where one has joined again', async () => {
    const [machine, other] = machines;
    const second = await other?.nodes[1]?.node.client();
    if (!machine || !second) throw new Error('two machines are needed');
    const { gpus } = await second.request('host.sample');
    const names = gpus.map(({ index, uuid }) => ({ index, uuid }));
    const { locks } = await second.request('gpus.take', { gpus: names });
    const end = join(dir, 'by-themselves');
    const wishes = { ranks: 2, wait: true, detached: true };
    const one = await startRun(machine, profile, program(end), wishes);
    const waits = async (run: typeof one): Promise<string> =>
      (await detailsOf(machine, run)).state?.waiting ?? '';
    const node = machine.nodes[1]?.name ?? '';
    const held = `waiting for GPU 0 on ${node}: 1st in the queue; held by a run that is being started`;
    await until('the first one to wait', async () => (await waits(one)).startsWith(held));
    expect((await holders(machine))[0]).toBe(one.split('/').at(-1)); // it has what is free already
    const two = await startRun(machine, profile, program(end), wishes);
    await until('the second one to wait', async () =>
      /on \S+: 2nd in the queue, behind .* on \S+: 2nd in the queue, behind /.test(await waits(two)),
    );

    const id = one.split('/').at(-1) ?? '';
    const record = join(hosts.homes[1] ?? '', '.trainyard/runs', id, 'nodes', node, 'join.state.json');
    process.kill((JSON.parse(readFileSync(record, 'utf8')) as { pid: number }).pid, 'SIGKILL');
    await untilEvent(one, 'node_lost', 40);
    await until('it to wait for its node', async () => (await waits(one)) === `waiting for node ${node}`);
    await machine.joinAgain(profile, await detailsOf(machine, one), node);
    await until('it to queue anew', async () => (await waits(one)).includes('2nd in the queue'));
    await second.request('gpus.give_back', { locks });
    writeFileSync(end, '');
    for (const run of [two, one]) {
      const { state, run: spec } = await untilOver(machine, run);
      expect(state).toMatchObject({ phase: 'finished', world: 2, generation: 1 });
      expect(spec?.nodes?.map(({ gpus }) => gpus)).toEqual([[0], [0]]);
    }
    expect(await holders(machine)).toEqual([undefined, undefined]);
    for (const at of [0, 1]) expect(readdirSync(join(dir, `locks-${at}`, 'queue'))).toEqual([]);
  });

  test('trials of a sweep wait on the nodes among which they are shared out', async () => {
    const [machine] = machines;
    if (!machine) throw new Error('a machine is needed');
    const end = join(dir, 'sweep-end');
    const env = { ...process.env, TRAINYARD_HOME: hosts.trainyardHome };
    const words = [
      '--detach',
      '--gpus',
      '1',
      '--runs-at-once',
      'gpus',
      '--name',
      'all',
      '--grid',
      'n=1,2,3,4',
    ];
    const script = `while [ ! -e '${end}' ]; do sleep 0.1; done`;
    const swept = await runCli(['sweep', profile.name, ...words, '--', 'sh', '-c', script, '{n}'], {
      env,
      cwd: dir,
    });
    expectExit(swept, 0);
    const phases = async (): Promise<string> => {
      const all = await (await machine.registry(profile)).list();
      const ours = all.filter(({ about }) => about?.tags.includes('all'));
      return ours
        .map(({ state }) => state?.phase ?? '')
        .sort()
        .join();
    };
    await until('a trial on each node', async () => (await phases()) === 'queued,queued,running,running');
    expect((await holders(machine)).every((run) => run?.includes('all') === true)).toBe(true);
    writeFileSync(end, '');
    await until('all to end', async () => (await phases()) === 'finished,finished,finished,finished', 60);
    const ended = await runCli(['sweep', '--resume', 'sweep-all'], { env, cwd: dir });
    expectExit(ended, 0);
    expect(ended.stderr).toContain('4 of 4 trials finished.');
  });

  test('a node that joins again takes its GPU again, but none that somebody else holds', async () => {
    const [machine, other] = machines;
    const second = machine?.nodes[1];
    const elsewhere = await other?.nodes[1]?.node.client();
    if (!machine || !second || !elsewhere) throw new Error('two machines are needed');
    const end = join(dir, 'again');
    const run = await startRun(machine, { ...profile, maxRestarts: 1 }, program(end), { ranks: 2 });
    const id = run.split('/').at(-1) ?? '';
    await untilEvent(run, 'rank_started', 30, ({ rank }) => rank === 1);
    const joins = async (): Promise<void> =>
      machine.joinAgain(profile, await detailsOf(machine, run), second.name);
    await expect(joins()).rejects.toThrow(`GPU 0 is taken by run ${id}`); // its `agent join` lives

    const record = join(hosts.homes[1] ?? '', '.trainyard/runs', id, 'nodes', second.name, 'join.state.json');
    process.kill((JSON.parse(readFileSync(record, 'utf8')) as { pid: number }).pid, 'SIGKILL');
    await untilEvent(run, 'node_lost', 40);
    const { gpus } = await elsewhere.request('host.sample');
    const names = gpus.map(({ index, uuid }) => ({ index, uuid }));
    const { locks } = await elsewhere.request('gpus.take', { gpus: names });
    await expect(joins()).rejects.toThrow('GPU 0 is taken by a run that is being started');
    await elsewhere.request('gpus.give_back', { locks });

    await joins();
    await untilEvent(run, 'started', 30, ({ generation, world }) => generation === 2 && world === 2);
    expect(await holders(machine)).toEqual([id, id]);
    writeFileSync(end, '');
    expect((await untilOver(machine, run)).state).toMatchObject({ phase: 'finished', generation: 2 });
    expect(await holders(machine)).toEqual([undefined, undefined]);
  });
});
