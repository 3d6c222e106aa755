import { expect, it } from 'vitest';
import type { RunDetails } from '../../../../src/core/contracts/agentApi.js';
import { placeOf } from '../../../../src/ui/panels/runPlace.js';

type Node = NonNullable<NonNullable<RunDetails['state']>['nodes']>[number];

const planned = ['gpu1', 'gpu2', 'gpu3'].map((host, at) => ({
  ...{ host, address: host, slots: 1, gpus: null },
  ...(at === 2 ? { spare: true } : {}),
}));
const details = (phase: string, ranks: string[], nodes: Partial<Node>[]): RunDetails =>
  ({
    run: { profile: { name: 'lab', kind: 'ssh' }, nodes: planned },
    state: { phase, ranks: ranks.map((host) => ({ host })), nodes, supervisor: { host: 'gpu1' } },
    interrupted: false,
  }) as unknown as RunDetails;
const joined = (host: string, more: Partial<Node> = {}): Partial<Node> => ({
  host,
  state: 'joined',
  ...more,
});

it('counts the nodes that have ranks, and the spare ones beside them', () => {
  const nodes = [joined('gpu1'), joined('gpu2'), joined('gpu3', { spare: true })];
  expect(placeOf(details('running', ['gpu1', 'gpu2'], nodes))).toBe('2 nodes, 1 spare');
  expect(placeOf(details('finished', ['gpu1', 'gpu2'], nodes))).toBe('2 nodes, 1 spare');
});

it('says who has a copy of the run folder, while the run is under way', () => {
  const mirrored = (phase: string, mirror: object): string => {
    const of = details(phase, ['gpu1', 'gpu2'], [joined('gpu1'), joined('gpu2')]);
    return placeOf({ ...of, state: { ...of.state, mirror } } as unknown as RunDetails);
  };
  const whole = { host: 'gpu2', checkpoint: 'step-00000120', time: 1, why: null };
  expect(mirrored('running', whole)).toBe('2 nodes, gpu2 has a copy');
  expect(mirrored('running', { ...whole, checkpoint: null })).toBe('2 nodes, gpu2 has no copy');
  expect(mirrored('running', { host: 'gpu2', shared: true })).toBe('2 nodes');
  expect(mirrored('finished', whole)).toBe('2 nodes, 1 spare');
});

it('names lost nodes while the run is under way, also where a spare has taken their place', () => {
  const nodes = [joined('gpu1'), joined('gpu2', { state: 'lost' }), joined('gpu3')];
  expect(placeOf(details('running', ['gpu1', 'gpu3'], nodes))).toBe('2 nodes, gpu2 lost');
  expect(placeOf(details('finished', ['gpu1', 'gpu3'], nodes))).toBe('2 nodes, 1 spare');
});
