import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { AgentError } from '../../../../src/core/agent/agentClient.js';
import { UserError } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import { agentErrors } from '../../../../src/core/contracts/agentApi.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { runSweep, type SweepOptions } from '../../../../src/core/measure/sweep.js';
import type { RunRequest } from '../../../../src/core/plan/request/request.js';
import { newTrial, type Sweep, type Trial } from '../../../../src/core/sweep/record.js';

const profile: Profile = { name: 'here', kind: 'local' };
const runOf = (id: string): NonNullable<Trial['run']> => ({ id, dir: nodePath(`/runs/${id}`) });
const sweepOf = (change: Partial<Trial>): Sweep => ({
  ...{ version: 1, name: 'lr', profile: 'here', created: 5, cwd: '/tmp', cancelled: false },
  asked: { profile: 'here', flags: { grid: ['lr=1'] }, rest: ['true'] },
  metric: { name: 'loss', goal: 'min' },
  trials: [{ ...newTrial({ number: 1, name: 'lr-01', values: { lr: '1' }, command: 'true' }), ...change }],
});

const refused = (what: string): Promise<never> => Promise.reject(new UserError('preflight', what, ''));

/** `there`: ids of runs of the trial that the machine has. */
const optionsOf = (sweep: Sweep, there: string[], start: () => Promise<unknown>): SweepOptions => {
  const report = { kind: 'sweep', begun: 5, trial: 1 };
  const list = () => Promise.resolve(there.map((id) => ({ ...runOf(id), run: { report } })));
  const machine = { registry: () => Promise.resolve({ list }), start } as unknown as Machine;
  return {
    ...{ machine, profile, sweep, atOnce: 1, hosts: [] },
    runOf: () => ({ profile, words: ['true'], cwd: '/tmp' }),
    onSweep: () => Promise.resolve(),
    onRun: () => Promise.resolve(),
    onTrial: () => undefined,
  };
};

it('ends, and does not call a trial failed, where its run has started and cannot be noted', async () => {
  const statuses: string[] = [];
  const options = optionsOf(sweepOf({}), [], () => Promise.resolve(runOf('new')));
  const swept = runSweep({
    ...options,
    onSweep: ({ trials: [trial] }) => {
      statuses.push(trial!.status);
      const isFull = trial!.status === 'running';
      return isFull ? refused('the disk is full') : Promise.resolve();
    },
  });
  await expect(swept).rejects.toThrow('the disk is full');
  expect(statuses).toEqual(['waiting', 'starting', 'running']);
});

it('notes a trial as failed that cannot be started', async () => {
  const { trials } = await runSweep(optionsOf(sweepOf({}), [], () => refused('no trainer')));
  expect(trials).toMatchObject([{ status: 'failed', why: 'no trainer.', run: null }]);
});

/** The run to which the sweep attaches; undefined where it starts the trial anew. */
async function attached(change: Partial<Trial>, there: string[]): Promise<string | undefined> {
  let found: string | undefined;
  const abort = new AbortController();
  const options = optionsOf(sweepOf(change), there, () => refused('it is started anew'));
  const { trials } = await runSweep({
    ...options,
    signal: abort.signal,
    onTrial: ({ run }, what) => {
      if (what !== 'attached') return;
      found = run?.id;
      abort.abort();
    },
  });
  if (found === undefined) expect(trials[0]?.why).toBe('it is started anew.');
  return found;
}

it('goes on with the run of the last try, and with none of those before', async () => {
  const earlier = ['old'];
  expect(await attached({ status: 'starting', earlier }, ['old'])).toBeUndefined();
  expect(await attached({ status: 'starting', earlier }, ['old', 'new'])).toBe('new');
  expect(await attached({ status: 'starting' }, ['new'])).toBe('new');
  expect(await attached({ status: 'running', run: runOf('new'), earlier }, ['old', 'new'])).toBe('new');
  expect(await attached({ status: 'running', run: runOf('new') }, ['other'])).toBeUndefined();
});

/** Three trials at once on two hosts; which host each start of a trial names. */
async function shared(
  start: (host: string | undefined, trial: number) => Promise<unknown>,
): Promise<{ starts: [number, string | undefined][]; trials: Trial[]; said: string[] }> {
  const starts: [number, string | undefined][] = [];
  const said: string[] = [];
  const trials = [1, 2, 3].map((number) =>
    newTrial({ number, name: `lr-0${number}`, values: { lr: String(number) }, command: 'true' }),
  );
  const hosts = [
    { host: 'gpu1', room: 1 },
    { host: 'gpu2', room: 1 },
  ];
  const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }, { host: 'gpu2' }] };
  const machine = {
    registry: () => Promise.resolve({ list: () => Promise.resolve([]) }),
    start: (request: { hosts?: string[]; report?: { trial: number } }) => {
      const { trial = 0 } = request.report ?? {};
      starts.push([trial, request.hosts?.[0]]);
      return start(request.hosts?.[0], trial);
    },
  } as unknown as Machine;
  const swept = await runSweep({
    ...optionsOf({ ...sweepOf({}), trials }, [], () => refused('')),
    ...{ machine, profile: lab, hosts, atOnce: 3 },
    runOf: () => ({ profile: lab, words: ['true'], cwd: '/tmp' }),
    onProgress: (text) => said.push(text),
  });
  return { starts, trials: swept.trials, said };
}

it('a host that cannot start a trial gets no more, and the trial goes to another one', async () => {
  const wrong = new UserError('usage', 'this one cannot be', '');
  const { starts, trials, said } = await shared((host) =>
    host === 'gpu1' ? refused('it has no python3') : Promise.reject(wrong),
  );
  expect(starts[0]).toEqual([1, 'gpu1']);
  // Both were sent there at once.
  expect(starts.filter(([, host]) => host === 'gpu1')).toHaveLength(2);
  expect(said).toEqual(['gpu1 gets no more trials: it has no python3.']);
  expect(trials.map(({ status, host, why }) => [status, host, why])).toEqual(
    Array.from({ length: 3 }, () => ['failed', 'gpu2', 'this one cannot be.']),
  );
});

it('a start that queues on one host holds none back on another one', async () => {
  const order: number[] = [];
  let goOn: () => void = () => undefined;
  const queue = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const { trials } = await shared(async (host, trial) => {
    if (host === 'gpu1') await queue; // until a trial of the other host was at the end of its start
    order.push(trial);
    goOn();
    throw new UserError('usage', 'done', '');
  });
  expect(order[0]).toBe(2);
  expect(trials.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
});

/** Requests of a detached sweep of three trials. */
async function detached(options: Partial<SweepOptions>): Promise<{ requests: RunRequest[]; swept: Sweep }> {
  const requests: RunRequest[] = [];
  const trials = [1, 2, 3].map((number) =>
    newTrial({ number, name: `lr-0${number}`, values: { lr: String(number) }, command: 'true' }),
  );
  const machine = {
    registry: () => Promise.resolve({ list: () => Promise.resolve([]) }),
    start: (request: RunRequest) => {
      requests.push(request);
      return Promise.resolve(runOf(`run-${requests.length}`));
    },
  } as unknown as Machine;
  const base = optionsOf({ ...sweepOf({}), trials }, [], () => refused(''));
  const swept = await runSweep({ ...base, machine, detached: true, ...options });
  return { requests, swept };
}

it('detached starts all trials, which take turns by themselves, and stays with none', async () => {
  const { requests, swept } = await detached({ slots: 2 });
  expect(swept.trials.map(({ status, run }) => [status, run?.id])).toEqual([
    ['running', 'run-1'],
    ['running', 'run-2'],
    ['running', 'run-3'],
  ]);
  expect(requests.map(({ detached, slots }) => [detached, slots])).toEqual(
    [1, 2, 3].map((place) => [true, { group: 'lr-5', count: 2, place }]),
  );
  const onGpus = await detached({ runOf: () => ({ profile, words: ['true'], cwd: '/tmp', gpus: '1' }) });
  expect(onGpus.requests.map(({ wait, slots }) => [wait, slots])).toEqual(
    [1, 2, 3].map(() => [true, undefined]),
  );
});

it('detached starts no more trials on several nodes than the head has ports for', async () => {
  const lab: Profile = { name: 'lab', kind: 'ssh', portRange: '47000-47004' };
  const swept = detached({ profile: lab, hosts: [{ host: 'gpu1', room: 1 }] });
  await expect(swept).rejects.toThrow('3 trials are to wait on the nodes, each with a port of the head');
});

it('starts none while more trials of a detached sweep are under way than are to be', async () => {
  const trials = [1, 2, 3].map((number) => {
    const trial = newTrial({ number, name: `lr-0${number}`, values: { lr: '1' }, command: 'true' });
    return number === 3 ? trial : { ...trial, status: 'running' as const, run: runOf(String(number)) };
  });
  const said: string[] = [];
  const options = optionsOf({ ...sweepOf({}), trials }, ['1', '2'], () => {
    said.push('a start');
    return refused('no trainer');
  });
  let looks = 0;
  const gone = new AgentError(agentErrors.notFound, 'its folder is gone', 'run.get');
  const client = async (): Promise<never> => {
    await setTimeout(50 * looks++); // the second one comes to its end later
    throw gone;
  };
  await runSweep({
    ...options,
    machine: { ...options.machine, node: { client } } as unknown as Machine,
    onTrial: ({ number }, what) => said.push(`${number} ${what}`),
  });
  expect(said).toEqual(['1 attached', '2 attached', '1 ended', '2 ended', 'a start', '3 ended']);
});
