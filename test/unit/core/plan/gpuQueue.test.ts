import { describe, expect, it } from 'vitest';
import type { WaitingStart } from '../../../../src/core/contracts/metricsSchema.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import {
  aheadOf,
  demandsOf,
  isEnough,
  offerAsIfFree,
  offerInTurn,
  waitingText,
} from '../../../../src/core/plan/gpuQueue.js';
import { placeRun, type PlacedRun } from '../../../../src/core/plan/device.js';
import type { NodeOffer } from '../../../../src/core/plan/placement.js';
import { requestOf, type RunRequest, type TypedRun } from '../../../../src/core/plan/request/request.js';

const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
const start = (ticket: string, number: number, gpus: number[], count: number, by = ''): WaitingStart => ({
  ...{ ticket, number, gpus, count, by },
  since: 0,
});
/** `held`: who holds each GPU; empty for a free one. */
const offer = (host: string, held: readonly string[], waiting: readonly WaitingStart[] = []): NodeOffer => ({
  ...{ host: { host }, address: host, cores: 8, waiting },
  gpus: held.map((busy, index) => ({ index, busy: busy === '' ? undefined : busy })),
});
const freeOf = (one: NodeOffer): number[] =>
  one.gpus.flatMap(({ index, busy }) => (busy === undefined ? [index] : []));
const free4 = ['', '', '', ''];
const wanted = (words: readonly string[], more: Partial<TypedRun> = {}): RunRequest =>
  requestOf({ profile: lab, words, cwd: '/', ...more });
const place = (request: RunRequest, ...offers: NodeOffer[]): Promise<PlacedRun> =>
  placeRun(request, offers, {
    before: () => Promise.resolve(undefined),
    backEnd: () => Promise.resolve(undefined),
  });

describe('the queue for GPUs', () => {
  const waiting = [start('x', 1, [0, 1, 2, 3], 2, 'ada@laptop'), start('y', 2, [3], 1)];

  it('keeps free GPUs for those ahead, and leaves the others', () => {
    expect(freeOf(offerInTurn(offer('a', free4, waiting), undefined))).toEqual([2]);
    expect(freeOf(offerInTurn(offer('a', free4, waiting), { ticket: 'x', number: 1 }))).toEqual([0, 1, 2, 3]);
    expect(freeOf(offerInTurn(offer('a', free4, waiting), { ticket: 'y', number: 2 }))).toEqual([2, 3]);
    expect(freeOf(offerInTurn(offer('a', ['run r', '', '', ''], waiting), undefined))).toEqual([]);
    expect(freeOf(offerInTurn(offer('a', free4), undefined))).toEqual([0, 1, 2, 3]);
    const { gpus } = offerInTurn(offer('a', free4, waiting), undefined);
    expect(gpus.map(({ busy }) => busy)).toEqual([
      'a start that waits in the queue (ada@laptop)',
      'a start that waits in the queue (ada@laptop)',
      undefined,
      'a start that waits in the queue',
    ]);
  });

  it('has the same order everywhere, whatever the nodes list first', () => {
    const one = start('b', 3, [0], 1);
    const two = start('a', 3, [0], 1);
    const three = start('c', 2, [0], 1);
    const names = (me?: WaitingStart): string[] => aheadOf([one, two, three], me).map(({ ticket }) => ticket);
    expect(names(three)).toEqual([]);
    expect(names(two)).toEqual(['c']);
    expect(names(one)).toEqual(['a', 'c']);
    expect(names()).toHaveLength(3);
  });

  it('never keeps one of two starts on two nodes from going on', () => {
    const both = [start('p', 1, [0], 1), start('q', 2, [0], 1)];
    const seen = (me: WaitingStart): number =>
      [offer('a', [''], both), offer('b', [''], [...both].reverse())].filter(
        (one) => freeOf(offerInTurn(one, me)).length > 0,
      ).length;
    expect(both.map(seen)).toEqual([2, 0]);
  });
});

describe('what a start waits for', () => {
  const demands = async (request: RunRequest, ...offers: NodeOffer[]): Promise<unknown[]> => {
    const { placement } = await place(request, ...offers.map(offerAsIfFree));
    return demandsOf(request, placement, offers);
  };
  const busy = [offer('a', ['run r', 'run r']), offer('b', ['run r', ''])];

  it('is what was asked for on each node', async () => {
    const own = { per: 'node', gpus: '2', wait: true } as const;
    expect(await demands(wanted(['torchrun', 'x.py'], own), ...busy)).toEqual([
      { host: 'a', gpus: [0, 1], count: 2 },
      { host: 'b', gpus: [0, 1], count: 2 },
    ]);
    const named = wanted(['python', 'x.py'], { gpus: '1,', wait: true });
    expect(await demands(named, ...busy)).toEqual([{ host: 'a', gpus: [1], count: 1 }]);
    const three = wanted(['train', '--device', 'cuda'], { ranks: 3, wait: true });
    expect(await demands(three, ...busy)).toMatchObject([{ count: 2 }, { count: 1 }]);
  });

  it('is one GPU on each node where no number was said', async () => {
    const request = wanted(['train'], { wait: true });
    expect(await demands(request, ...busy)).toMatchObject([{ count: 1 }, { count: 1 }]);
    const ideal = (await place(request, ...busy.map(offerAsIfFree))).placement;
    const onGpus = { ...request, device: 'cuda' } as const;
    const half = await place(onGpus, offer('a', ['', 'run r']), offer('b', ['run r', 'run r']));
    expect(isEnough(onGpus, half, ideal)).toBe(false);
    const both = await place(onGpus, offer('a', ['', 'run r']), offer('b', ['run r', '']));
    expect(isEnough(onGpus, both, ideal)).toBe(true);
    expect(isEnough(request, await place(request, ...busy), ideal)).toBe(false); // auto: the CPU
  });

  it('cannot be there by waiting where there are too few', async () => {
    await expect(demands(wanted(['python', 'x.py'], { gpus: '3', wait: true }), ...busy)).rejects.toThrow(
      'a has 2 GPUs, and 3 were asked for',
    );
  });

  it('is nothing where a run takes no GPU', () => {
    expect(() => wanted(['hostname'], { wait: true })).toThrow('nothing to wait for');
    expect(() => wanted(['train', '--device', 'cpu'], { wait: true })).toThrow('nothing to wait for');
    expect(wanted(['hostname'], { wait: true, gpus: '1' }).wait).toBe(true);
  });
});

describe('what a start says while it waits', () => {
  const me = { ticket: 'z', number: 5 };
  const ahead = [start('x', 1, [0, 1], 1, 'ada@laptop'), start('y', 2, [0, 1], 1, 'ada@laptop')];

  it('names its place and the holders', () => {
    const demand = { host: 'gpu1', gpus: [0, 1, 2], count: 2 };
    const text = (...offers: NodeOffer[]): string => waitingText([demand], offers, me);
    expect(text(offer('gpu1', ['run r (process 7)', 'run r (process 7)', '']))).toBe(
      'waiting for 2 GPUs on gpu1: 1st in the queue; held by run r (process 7)',
    );
    expect(text(offer('gpu1', ['run r', 'run s', 'process 4 of bob (t.py)'], ahead))).toBe(
      'waiting for 2 GPUs on gpu1: 3rd in the queue, behind ada@laptop; held by run r, run s and 1 more',
    );
    expect(text(offer('gpu1', ['', '', ''], ahead))).toBe(
      'waiting for 2 GPUs on gpu1: 3rd in the queue, behind ada@laptop',
    );
    expect(text(offer('gpu1', ['', '', '']))).toBe('taking the GPUs');
  });

  it('names each node that lacks some, and GPUs that were named', () => {
    const demands = [
      { host: 'a', gpus: [0], count: 1 },
      { host: 'b', gpus: [0, 1], count: 1 },
      { host: 'c', gpus: [0], count: 1 },
    ];
    const offers = [offer('a', ['run r']), offer('b', ['run s', 'run s']), offer('c', [''])];
    expect(waitingText(demands, offers, me)).toBe(
      'waiting for GPU 0 on a: 1st in the queue; held by run r; and for a GPU on b: 1st in the queue; held by run s',
    );
  });

  it.each([
    [10, '11th'],
    [11, '12th'],
    [20, '21st'],
    [21, '22nd'],
    [22, '23rd'],
    [111, '112th'],
  ])('counts as people do: %d before it', (count, words) => {
    const many = Array.from({ length: count }, (_, at) => start(String(at), 1, [0], 1));
    const demand = { host: 'a', gpus: [0], count: 1 };
    expect(waitingText([demand], [offer('a', ['run r'], many)], me)).toContain(`: ${words} in the queue`);
  });
});
