import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { placeRanks, withLibraries, type NodeOffer } from '../../../../src/core/plan/placement.js';

const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
const gpu = (index: number, busy?: string): NodeOffer['gpus'][number] => ({ index, busy });
const offer = (host: NodeOffer['host'], more: Partial<NodeOffer> = {}): NodeOffer => ({
  host,
  address: host.address ?? host.host,
  cores: 8,
  gpus: [],
  ...more,
});
const cuda = ['train', '--device', 'cuda'];

describe('placeRanks', () => {
  it('gives training every slot, and a command one process on the head', () => {
    const offers = [offer({ host: 'a', slots: 2 }), offer({ host: 'b', slots: 4, address: '10.0.0.5' })];
    expect(placeRanks(lab, ['train'], offers)).toEqual({
      nodes: [
        { host: 'a', address: 'a', slots: 2, gpus: null },
        { host: 'b', address: '10.0.0.5', slots: 4, gpus: null },
      ],
      ranks: 6,
      threadsPerRank: 2,
    });
    expect(placeRanks(lab, ['hostname'], offers)).toMatchObject({
      ranks: 1,
      nodes: [{ host: 'a', slots: 1 }],
    });
    expect(placeRanks(lab, ['train'], offers, { ranks: 3 }).nodes.map(({ slots }) => slots)).toEqual([2, 1]);
    expect(placeRanks(lab, ['train'], offers, { nodes: 1 })).toMatchObject({ ranks: 2 });
    expect(placeRanks({ ...lab, maxNodes: 1 }, ['train'], offers)).toMatchObject({ ranks: 2 });
  });

  it.each([
    [['bench', 'matmul', '--size', '100'], 6],
    [['bench', 'allreduce'], 6],
    [['trainer', 'bench', 'matmul'], 6],
    [['trainer', 'train'], 6],
    [['bench', 'input', '--data', 'x'], 1],
    [['bench', 'step'], 1],
    [['make', 'train'], 1],
  ])('%j takes %i slots', (words, ranks) => {
    const offers = [offer({ host: 'a', slots: 2 }), offer({ host: 'b', slots: 4 })];
    expect(placeRanks(lab, words, offers).ranks).toBe(ranks);
  });

  it('takes free GPUs only, in the order of the profile', () => {
    const offers = [
      offer({ host: 'a', gpus: [3, 0, 1] }, { gpus: [gpu(0), gpu(1, 'process 7'), gpu(2), gpu(3)] }),
      offer({ host: 'b', slots: 1 }, { gpus: [gpu(0), gpu(1)] }),
    ];
    expect(placeRanks(lab, cuda, offers).nodes.map(({ gpus }) => gpus)).toEqual([[3, 0], [0]]);
  });

  it('names what there is when it does not fit', () => {
    const busy = [offer({ host: 'a' }, { gpus: [gpu(0, 'process 7')] })];
    expect(() => placeRanks(lab, cuda, busy)).toThrow(
      /no node of profile lab has a free GPU \(a has 0, GPU 0 is taken by process 7\)/,
    );
    const offers = [offer({ host: 'a', slots: 2 }), offer({ host: 'b', slots: 4 })];
    const words = ['train'];
    expect(() => placeRanks(lab, words, offers, { ranks: 7 })).toThrow(
      expect.objectContaining({
        message: '7 ranks were asked for, and there is room for 6 (a has 2; b has 4).',
        hint: { kind: 'fewerRanks', profile: 'lab', ranks: 6, words, moreSlots: false },
      }),
    );
    expect(() => placeRanks(lab, ['train'], offers, { nodes: 3 })).toThrow(/profile lab has 2/);
    const headless = [offer({ host: 'a' }), offer({ host: 'b' }, { gpus: [gpu(0)] })];
    expect(() => placeRanks(lab, cuda, headless)).toThrow(/the head, a, has no free slot/);
  });

  it('tells each node where its own libraries of NVIDIA are', () => {
    const offers = [offer({ host: 'a' }, { gpus: [gpu(0)] }), offer({ host: 'b' }, { gpus: [gpu(0)] })];
    const folders = new Map([
      ['a', undefined],
      ['b', ['/usr/local/cuda/lib64', '/w/cuda/lib']],
    ]);
    const { nodes } = withLibraries(placeRanks(lab, cuda, offers), folders);
    expect(nodes.map(({ nvidia }) => nvidia)).toEqual([undefined, ['/usr/local/cuda/lib64', '/w/cuda/lib']]);
  });
});
