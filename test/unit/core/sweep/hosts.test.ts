// Trials of one node are shared out among the hosts of a cluster.
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/core/cluster/nodes/machine.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { trialPlaces } from '../../../../src/core/measure/trialPlaces.js';
import type { TypedRun } from '../../../../src/core/plan/request/request.js';
import { onHost, sharedHosts, TrialHosts } from '../../../../src/core/sweep/hosts.js';

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
  it('are those with ranks, of a program that is one process or takes one node', () => {
    expect(sharedHosts(typed())).toEqual(['gpu1', 'gpu2']);
    expect(sharedHosts(typed({ ranks: 1 }))).toEqual(['gpu1', 'gpu2']);
    expect(sharedHosts(typed({ per: 'node', nodes: 1 }))).toEqual(['gpu1', 'gpu2']);
  });
  it('are none where a trial takes more, where they were named, and where there is one', () => {
    const [, gpu1] = lab.hosts ?? [];
    for (const more of [
      { words: ['train', '--model', 'mlp'] },
      { words: ['train', '--model', 'mlp'], nodes: 1 }, // its rank 0 has to see the head's folder
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

describe('the host of a trial', () => {
  const hosts = [
    { host: 'gpu1', room: 4 },
    { host: 'gpu2', room: 2 },
  ];
  it('is the one with the fewest under way for its room', () => {
    expect(new TrialHosts([]).take(1)).toBeUndefined();
    const shared = new TrialHosts(hosts);
    expect([1, 2, 3, 4, 5, 6].map((trial) => shared.take(trial))).toEqual([
      'gpu1',
      'gpu2',
      'gpu1',
      'gpu1',
      'gpu2',
      'gpu1',
    ]);
    shared.release(2, 'finished');
    expect(shared.take(7)).toBe('gpu2');
    const again = new TrialHosts(hosts);
    again.attach(1, 'gpu1');
    expect(again.take(2)).toBe('gpu2');
    expect(onHost(typed({ nodes: 1 }), 'gpu2')).toEqual(typed({ hosts: ['gpu2'] }));
  });

  it('is none on which two trials failed and none has finished, unless it is the last', () => {
    const shared = new TrialHosts(hosts);
    const failed = (trial: number, host: string): string | undefined => {
      shared.attach(trial, host);
      return shared.release(trial, 'failed');
    };
    expect(failed(1, 'gpu2')).toBeUndefined();
    expect(failed(2, 'gpu2')).toBe('gpu2');
    expect(shared.take(3)).toBe('gpu1');
    expect(shared.take(4)).toBe('gpu1');
    expect([failed(5, 'gpu1'), failed(6, 'gpu1'), failed(7, 'gpu1')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const other = new TrialHosts(hosts);
    other.attach(1, 'gpu2');
    other.release(1, 'finished');
    for (const trial of [2, 3, 4]) {
      other.attach(trial, 'gpu2');
      expect(other.release(trial, 'failed')).toBeUndefined();
    }
  });
});

describe('a host that is lost', () => {
  it('is taken no more; the last one gives its place to hosts without room', () => {
    const shared = new TrialHosts([{ host: 'gpu1', room: 2 }], ['gpu1', 'gpu2']);
    expect(shared.lose('gpu1')).toBe(true);
    expect([shared.take(1), shared.take(2)]).toEqual(['gpu2', 'gpu2']);
    expect(shared.lose('gpu2')).toBe(false);
    const unshared = new TrialHosts([], ['gpu1', 'gpu2']);
    expect(unshared.take(1)).toBeUndefined();
    expect(unshared.lose('gpu1')).toBe(true);
    expect(unshared.take(1)).toBe('gpu2');
  });
});

/** What of a sample says which GPUs there are, and which of them somebody holds. */
const sampleOf = (count: number, taken: number) => ({
  waiting: [],
  missing: [],
  gpus: Array.from({ length: count }, (_, index) => ({
    ...{ index, uuid: `GPU-${index}`, name: 'H200', processes: [] },
    ...(index < taken ? { held_by: { run: 'birds', pid: 7 } } : {}),
  })),
});

describe('the places of trials', () => {
  /** By the GPUs of each node, the taken ones first. Undefined: it cannot be reached. */
  const machine = (gpus: Record<string, number | undefined>, taken = 0): Machine =>
    ({
      nodes: Object.entries(gpus).map(([name, count]) => ({
        name,
        node: {
          client: () =>
            count === undefined
              ? Promise.reject(new Error(`${name} is down`))
              : Promise.resolve({ request: () => Promise.resolve(sampleOf(count, taken)) }),
        },
      })),
    }) as unknown as Machine;
  const two = { count: 2, indices: undefined, text: '2' };

  it('are the free GPUs of all nodes together, without a node that cannot be reached', async () => {
    const all = await trialPlaces(machine({ login: 0, gpu1: 8, gpu2: 5 }), typed(), 'gpus', two);
    expect(all).toEqual({
      atOnce: 6,
      hosts: [
        { host: 'gpu1', room: 4 },
        { host: 'gpu2', room: 2 },
      ],
      reserves: ['gpu1', 'gpu2'],
      without: [],
    });
    const taken = await trialPlaces(machine({ gpu1: 8, gpu2: 5 }, 4), typed(), 'gpus', two);
    expect(taken).toMatchObject({ atOnce: 2, hosts: [{ host: 'gpu1', room: 2 }] });
    expect(await trialPlaces(machine({ gpu1: 8, gpu2: undefined }), typed(), 'gpus', two)).toEqual({
      atOnce: 4,
      hosts: [{ host: 'gpu1', room: 4 }],
      reserves: ['gpu1'],
      without: ['gpu2'],
    });
    const down = trialPlaces(machine({ gpu1: undefined, gpu2: undefined }), typed(), 'gpus', two);
    await expect(down).rejects.toThrow('gpu1 is down');
    const small = trialPlaces(machine({ gpu1: 1, gpu2: 1 }), typed(), 'gpus', two);
    await expect(small).rejects.toThrow('a trial takes 2 GPUs of each node, and one has 1');
  });

  it('are those that the profile lets runs take; where all are taken, trials queue as ever', async () => {
    const some = { ...lab, hosts: [{ host: 'gpu1', gpus: [0, 1] }, { host: 'gpu2' }] };
    const few = await trialPlaces(machine({ gpu1: 8, gpu2: 8 }), typed({ profile: some }), 'gpus', two);
    expect(few.hosts).toEqual([
      { host: 'gpu1', room: 1 },
      { host: 'gpu2', room: 4 },
    ]);
    const full = await trialPlaces(machine({ gpu1: 8, gpu2: 4 }, 8), typed(), 'gpus', two);
    expect(full).toMatchObject({ atOnce: 2, hosts: [], reserves: ['gpu1', 'gpu2'], without: [] });
  });

  it('of trials on all nodes are those of the node with the fewest', async () => {
    const all = typed({ per: 'node' });
    expect(await trialPlaces(machine({ login: 0, gpu1: 8, gpu2: 4 }), all, 'gpus', two)).toEqual({
      atOnce: 2,
      hosts: [],
      reserves: [],
      without: [],
    });
  });

  it('are as many as was said, on hosts with room, unless they run one after the other', async () => {
    const both = machine({ login: 0, gpu1: 0, gpu2: 0 });
    const each = (host: string) => ({ host, room: 1 });
    expect(await trialPlaces(both, typed(), 3, undefined)).toEqual({
      atOnce: 3,
      slots: 3,
      hosts: [each('gpu1'), each('gpu2')],
      reserves: ['gpu1', 'gpu2'],
      without: [],
    });
    const none = { hosts: [], reserves: [], without: [] };
    expect(await trialPlaces(both, typed(), 1, undefined)).toEqual({ atOnce: 1, slots: 1, ...none });
    expect(await trialPlaces(both, typed({ hosts: ['gpu2'] }), 3, undefined)).toEqual({
      atOnce: 3,
      slots: 3,
      ...none,
    });
    expect(await trialPlaces(machine({ gpu1: 1, gpu2: 4 }), typed(), 3, two)).toEqual({
      atOnce: 3,
      slots: 3,
      hosts: [{ host: 'gpu2', room: 2 }],
      reserves: ['gpu1', 'gpu2'],
      without: [],
    });
    const named = { count: 2, indices: [0, 2], text: '0,2' };
    const indexed = await trialPlaces(machine({ gpu1: 2, gpu2: 4 }), typed(), 3, named);
    expect(indexed.hosts).toEqual([each('gpu2')]);
  });
});
