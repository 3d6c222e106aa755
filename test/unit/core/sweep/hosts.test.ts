// Trials of one node are shared out among the hosts of a cluster.
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { trialPlaces } from '../../../../src/core/measure/trialPlaces.js';
import type { TypedRun } from '../../../../src/core/plan/request/request.js';
import { freestHost, onHost, sharedHosts } from '../../../../src/core/sweep/hosts.js';
import { newTrial, type Trial } from '../../../../src/core/sweep/record.js';

const lab: Profile = {
  name: 'lab',
  kind: 'ssh',
  hosts: [{ host: 'login', slots: 0 }, { host: 'gpu1' }, { host: 'gpu2' }],
};
const typed = (more: Partial<TypedRun> = {}): TypedRun => ({
  profile: lab,
  words: ['python3', 'a.py'],
  cwd: '/',
  ...more,
});

describe('the hosts that share the trials', () => {
  it('are those with ranks, of a program that is one process and of a run on one node', () => {
    expect(sharedHosts(typed())).toEqual(['gpu1', 'gpu2']);
    expect(sharedHosts(typed({ ranks: 1 }))).toEqual(['gpu1', 'gpu2']);
    expect(sharedHosts(typed({ words: ['train', '--model', 'mlp'], nodes: 1 }))).toEqual(['gpu1', 'gpu2']);
  });
  it('are none where a trial takes more, where they were named, and where there is one', () => {
    const [, gpu1] = lab.hosts ?? [];
    for (const more of [
      { words: ['train', '--model', 'mlp'] },
      { nodes: 2 },
      { per: 'slot' as const },
      { ranks: 2 },
      { hosts: ['gpu1'] },
      { profile: { ...lab, kind: 'slurm' as const } },
      { profile: { ...lab, hosts: [gpu1!] } },
    ]) {
      expect(sharedHosts(typed(more)), JSON.stringify(more)).toBeUndefined();
    }
  });
});

it('a trial goes to the host with the fewest under way for its room', () => {
  const trial = (number: number, change: Partial<Trial>): Trial => ({
    ...newTrial({ number, name: `x-0${number}`, values: {}, command: '' }),
    ...change,
  });
  const hosts = [
    { host: 'gpu1', room: 4 },
    { host: 'gpu2', room: 2 },
  ];
  const on = (host: string, status: Trial['status'] = 'running', number = 1) =>
    trial(number, { host, status });
  expect(freestHost([], [])).toBeUndefined();
  expect(freestHost(hosts, [])).toBe('gpu1');
  expect(freestHost(hosts, [on('gpu1')])).toBe('gpu2');
  expect(freestHost(hosts, [on('gpu1'), on('gpu2', 'starting')])).toBe('gpu1');
  expect(freestHost(hosts, [on('gpu1', 'finished'), on('gpu2')])).toBe('gpu1');
  expect(onHost(typed({ nodes: 1 }), 'gpu2')).toEqual(typed({ hosts: ['gpu2'] }));
});

describe('the places of trials', () => {
  /** By the GPUs of each node; undefined for one that cannot be reached. */
  const machine = (gpus: Record<string, number | undefined>): Machine =>
    ({
      nodes: Object.entries(gpus).map(([name, count]) => ({
        name,
        node: {
          client: () =>
            count === undefined
              ? Promise.reject(new Error(`${name} is down`))
              : Promise.resolve({ request: () => Promise.resolve({ gpus: Array.from({ length: count }) }) }),
        },
      })),
    }) as unknown as Machine;
  const two = { count: 2, indices: undefined, text: '2' };

  it('are the GPUs of all nodes together, without a node that cannot be reached', async () => {
    expect(await trialPlaces(machine({ login: 0, gpu1: 8, gpu2: 5 }), typed(), 'gpus', two)).toEqual({
      atOnce: 6,
      hosts: [
        { host: 'gpu1', room: 4 },
        { host: 'gpu2', room: 2 },
      ],
    });
    expect(await trialPlaces(machine({ gpu1: 8, gpu2: undefined }), typed(), 'gpus', two)).toEqual({
      atOnce: 4,
      hosts: [{ host: 'gpu1', room: 4 }],
    });
    const down = trialPlaces(machine({ gpu1: undefined, gpu2: undefined }), typed(), 'gpus', two);
    await expect(down).rejects.toThrow('gpu1 is down');
    const small = trialPlaces(machine({ gpu1: 1, gpu2: 1 }), typed(), 'gpus', two);
    await expect(small).rejects.toThrow('a trial takes 2 GPUs of each node');
  });

  it('of trials on all nodes are those of the node with the fewest', async () => {
    const all = typed({ per: 'node' });
    expect(await trialPlaces(machine({ login: 0, gpu1: 8, gpu2: 4 }), all, 'gpus', two)).toEqual({
      atOnce: 2,
      hosts: [],
    });
  });

  it('are as many as was said, shared out unless they run one after the other', async () => {
    const both = machine({ login: 0, gpu1: 0, gpu2: 0 });
    expect(await trialPlaces(both, typed(), 3, undefined)).toEqual({
      atOnce: 3,
      hosts: [
        { host: 'gpu1', room: 1 },
        { host: 'gpu2', room: 1 },
      ],
    });
    expect(await trialPlaces(both, typed(), 1, undefined)).toEqual({ atOnce: 1, hosts: [] });
    expect(await trialPlaces(both, typed({ hosts: ['gpu2'] }), 3, undefined)).toEqual({
      atOnce: 3,
      hosts: [],
    });
  });
});
