import { expect, test, vi } from 'vitest';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import { moveHead, withHead } from '../../../../src/core/cluster/moveHead.js';
import type { RunDetails, RunEntry } from '../../../../src/core/contracts/agentApi.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { Cancelled } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { failure, Refused } from '../../../../src/core/ssh/base/failures.js';

const host = (name: string): { host: string } => ({ host: name });
const lab: Profile = {
  name: 'lab',
  kind: 'ssh',
  hosts: ['gpu1', 'gpu2', 'gpu3', 'gpu4'].map(host),
  mirror: 'gpu2',
};
const id = '20261128-120000-mlp-0001';

test('the mirror becomes the head, and the old head its mirror', () => {
  expect(withHead(lab, 'gpu2')).toEqual({ ...lab, head: 'gpu2', mirror: 'gpu1' });
  expect(withHead({ ...lab, head: 'gpu3' }, 'gpu2')).toMatchObject({ head: 'gpu2', mirror: 'gpu3' });
  expect(withHead(lab, 'gpu3')).toEqual({ ...lab, head: 'gpu3' });
});

test.each<[string, Profile, string, string]>([
  ['another kind', { ...lab, kind: 'slurm' }, 'gpu2', 'profile lab is of kind slurm'],
  ['an unknown host', lab, 'gpu9', 'gpu9 is no host of profile lab'],
  ['the head itself', lab, 'gpu1', 'gpu1 is the head of profile lab already'],
  [
    'a head without ranks',
    { ...lab, hosts: [{ host: 'gpu1', slots: 0 }, host('gpu2')] },
    'gpu2',
    'gpu1 has 0 slots',
  ],
])('no other head: %s', (_, profile, name, what) => {
  expect(() => withHead(profile, name)).toThrow(what);
});

const node = (name: string, more: object = {}): object => ({
  host: name,
  address: name,
  slots: 1,
  gpus: null,
  ...more,
});
const details = {
  id,
  dir: nodePath('/home/ada/.trainyard/runs/x'),
  run: { nodes: [node('gpu1'), node('gpu2'), node('gpu3'), node('gpu4', { spare: true })] },
  state: null,
  interrupted: true,
} as unknown as RunDetails;

/** Checkpoints of these steps, the first of which is damaged. */
const checkpointsOf = (steps: number[]): object => ({
  checkpoints: [{ step: 9999, valid: false }, ...steps.map((step) => ({ step, valid: true }))],
});

/**
 * A machine whose agent answers `mirror.adopt` and `run.get`, has checkpoints of these steps, and
 * notes what it was asked to do.
 */
function newHead({ adopted = true, found = details, steps = [100] } = {}): {
  machine: Machine;
  asked: unknown[];
} {
  const asked: unknown[] = [];
  const request = (method: string, params: unknown): Promise<unknown> => {
    if (method === 'checkpoint.list') return Promise.resolve(checkpointsOf(steps));
    asked.push([method, params]);
    return Promise.resolve(method === 'run.get' ? found : { dir: details.dir, adopted, shared: false });
  };
  return { machine: { node: { client: () => Promise.resolve({ request }) } } as unknown as Machine, asked };
}

const oldHead = (entry: object, steps = [100]): (() => Promise<Machine>) => {
  const list = (): Promise<RunEntry[]> => Promise.resolve([entry as RunEntry]);
  const request = (): Promise<object> => Promise.resolve(checkpointsOf(steps));
  const node = { client: () => Promise.resolve({ request }) };
  const machine = { node, registry: () => Promise.resolve({ list }) } as unknown as Machine;
  return () => Promise.resolve(machine);
};
const away = (): Promise<Machine> =>
  Promise.reject(failure('the jump host cannot reach gpu1', 'Check the address'));

const move = (
  machine: Machine,
  old: () => Promise<Machine>,
  { host: to = 'gpu2', signal }: { host?: string; signal?: AbortSignal } = {},
): ReturnType<typeof moveHead> =>
  moveHead(
    { entry: details, profile: withHead(lab, to), machine, before: { profile: lab, machine: old } },
    signal ? { signal } : {},
  );

test('a head that does not answer is left out, and a spare takes its place', async () => {
  const { machine, asked } = newHead();
  expect(await move(machine, away)).toEqual({ details, hosts: ['gpu2', 'gpu3', 'gpu4'] });
  expect(asked[0]).toEqual(['mirror.adopt', { workdir: '~/.trainyard', id, host: 'gpu2' }]);
});

test('the new head is the spare that takes the place', async () => {
  const nodes = [
    ...[node('gpu1'), node('gpu2')],
    ...[node('gpu3', { spare: true }), node('gpu4', { spare: true })],
  ];
  const found = { ...details, run: { nodes } } as unknown as RunDetails;
  const { machine } = newHead({ found });
  expect((await move(machine, away, { host: 'gpu4' })).hosts).toEqual(['gpu2', 'gpu4']);
});

test('a head that says nothing at all is waited for, for 60 s', async () => {
  vi.useFakeTimers();
  try {
    const { machine, asked } = newHead();
    const moving = move(machine, () => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(59_000);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(2000);
    expect((await moving).hosts).toEqual(['gpu2', 'gpu3', 'gpu4']);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ['does not let us in', new Refused('gpu1 does not let ada in', ''), 'does not let ada in'],
  ['is not asked to the end', new Cancelled(), 'cancelled'],
])('nothing is moved where the old head %s', async (_, error, what) => {
  const { machine, asked } = newHead();
  await expect(move(machine, () => Promise.reject(error))).rejects.toThrow(what);
  expect(asked).toEqual([]);
});

test('nothing is moved once it was given up', async () => {
  const { machine, asked } = newHead();
  const abort = new AbortController();
  const moving = move(machine, () => new Promise(() => undefined), { signal: abort.signal });
  abort.abort();
  await expect(moving).rejects.toThrow(Cancelled);
  expect(asked).toEqual([]);
});

test('a head that answers stays a node of the run, which is over there', async () => {
  const { machine } = newHead();
  expect((await move(machine, oldHead(details))).hosts).toBeUndefined();
});

const copied = { generation: 1, updated: 1000 };
test.each([
  ['running', { phase: 'running', ...copied }, false, [100], `${id} is running on gpu1, which is its head`],
  ['finished', { phase: 'finished', ...copied }, false, [100], `${id} has finished on gpu1`],
  ['of a later start', { phase: 'failed', ...copied, generation: 2 }, true, [100], 'a later start'],
  ['further', { phase: 'stopped', ...copied }, false, [100, 150], 'step 150, and the copy step 100'],
])('a run that is %s there stays there', async (_, state, interrupted, steps, what) => {
  const { machine, asked } = newHead();
  const entry = { ...details, state: copied, time: 1 } as unknown as RunEntry;
  const there = { ...details, interrupted, state };
  const before = { profile: lab, machine: oldHead(there, steps) };
  await expect(moveHead({ entry, profile: withHead(lab, 'gpu2'), machine, before })).rejects.toThrow(what);
  expect(asked).toEqual([]);
});

test('a folder of the time when the host was the head itself is no copy', async () => {
  const found = { ...details, run: { nodes: [node('gpu2'), node('gpu3')] } } as unknown as RunDetails;
  await expect(move(newHead({ adopted: false, found }).machine, away)).rejects.toThrow(
    'as it was when gpu2 was its head',
  );
  // On a disk that all nodes see it is the folder itself.
  expect((await move(newHead({ adopted: false }).machine, away)).details).toBe(details);
});
