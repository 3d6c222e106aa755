import { expect, test, vi } from 'vitest';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import { moveHead, withHead } from '../../../../src/core/cluster/moveHead.js';
import type { RunDetails, RunEntry } from '../../../../src/core/contracts/agentApi.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';

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

/** A machine whose agent answers `mirror.adopt` and `run.get`, and notes what it was asked. */
function newHead(): { machine: Machine; asked: unknown[] } {
  const asked: unknown[] = [];
  const request = (method: string, params: unknown): Promise<unknown> => {
    asked.push([method, params]);
    return Promise.resolve(method === 'run.get' ? details : { dir: details.dir, adopted: true });
  };
  return { machine: { node: { client: () => Promise.resolve({ request }) } } as unknown as Machine, asked };
}

const oldHead = (list: () => Promise<RunEntry[]>): (() => Promise<Machine>) => {
  const machine = { registry: () => Promise.resolve({ list }) } as unknown as Machine;
  return () => Promise.resolve(machine);
};

const move = (machine: Machine, old: () => Promise<Machine>): ReturnType<typeof moveHead> =>
  moveHead({
    entry: details,
    profile: withHead(lab, 'gpu2'),
    machine,
    before: { profile: lab, machine: old },
  });

test('a head that does not answer is left out, and a spare takes its place', async () => {
  const { machine, asked } = newHead();
  const moved = await move(machine, () => Promise.reject(new Error('no route to host')));
  expect(moved).toEqual({ details, hosts: ['gpu2', 'gpu3', 'gpu4'] });
  expect(asked[0]).toEqual(['mirror.adopt', { workdir: '~/.trainyard', id, host: 'gpu2' }]);
});

test('a head that says nothing at all is waited for, for 20 s', async () => {
  vi.useFakeTimers();
  try {
    const { machine, asked } = newHead();
    const moving = move(machine, () => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(19_000);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(2000);
    expect((await moving).hosts).toEqual(['gpu2', 'gpu3', 'gpu4']);
  } finally {
    vi.useRealTimers();
  }
});

test('a head that answers stays a node of the run, which is over there', async () => {
  const { machine } = newHead();
  const moved = await move(
    machine,
    oldHead(() => Promise.resolve([details])),
  );
  expect(moved.hosts).toBeUndefined();
});

test.each([
  ['running', `${id} is running on gpu1, which is its head`],
  ['finished', `${id} has finished on gpu1`],
])('a run that is %s there stays there', async (phase, what) => {
  const { machine, asked } = newHead();
  const entry = { ...details, interrupted: false, state: { phase } } as unknown as RunEntry;
  const moving = move(
    machine,
    oldHead(() => Promise.resolve([entry])),
  );
  await expect(moving).rejects.toThrow(what);
  expect(asked).toEqual([]);
});
