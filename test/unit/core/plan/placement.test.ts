import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { requestOf, wordsOf, type TypedRun } from '../../../../src/core/plan/request/request.js';
import {
  noGpusFor,
  placeRanks as place,
  withLibraries,
  type NodeOffer,
  type Placement,
} from '../../../../src/core/plan/placement.js';

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
const placeRanks = (
  profile: Profile,
  words: readonly string[],
  offers: readonly NodeOffer[],
  wanted: Pick<TypedRun, 'ranks' | 'nodes' | 'per'> = {},
): Placement => {
  const request = requestOf({ profile, words, cwd: '/', ...wanted });
  return place({ ...request, words: wordsOf(request) }, words.includes('cuda') ? 'cuda' : 'cpu', offers);
};

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

  it('gives an own program a process for each slot, or for each node, where that is asked for', () => {
    const offers = [
      offer({ host: 'a', slots: 2, tasks: ['chief:2222'] }),
      offer({ host: 'b', slots: 4 }),
      offer({ host: 'c', slots: 4 }),
    ];
    const slots = placeRanks(lab, ['python', 'x.py'], offers, { per: 'slot' });
    expect(slots).toMatchObject({ ranks: 10, nodes: [{ tasks: ['chief:2222'] }, { slots: 4 }, {}] });
    expect(slots.nodes[0]).not.toHaveProperty('workers');
    const nodes = placeRanks(lab, ['torchrun', 'x.py'], offers, { per: 'node', ranks: 5 });
    expect(nodes).toMatchObject({
      ranks: 2,
      nodes: [
        { host: 'a', slots: 1, workers: 2 },
        { host: 'b', slots: 1, workers: 3 },
      ],
    });
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
        message: '7 ranks were asked for, and there are slots for 6 (a has 2; b has 4).',
        hint: {
          kind: 'fewerRanks',
          profile: 'lab',
          ranks: 6,
          words: ['train', '--device', 'auto'],
          moreSlots: true,
        },
      }),
    );
    expect(() => placeRanks(lab, ['train'], offers, { nodes: 3 })).toThrow(/profile lab has 2/);
    const taken = { gpus: [gpu(0, 'process 7')] };
    const full = [offer({ host: 'a' }, taken), offer({ host: 'b' }, { gpus: [gpu(0)] })];
    expect(() => placeRanks(lab, cuda, full)).toThrow(/the head, a, has no free slot/);
    const lost = [
      offer({ host: 'a' }, { trouble: 'NVML is silent' }),
      offer({ host: 'b' }, { gpus: [gpu(0)] }),
    ];
    expect(() => placeRanks(lab, cuda, lost)).toThrow(/the head, a, has no free slot/);
  });

  describe('with a head that takes no rank', () => {
    const others = [offer({ host: 'b', slots: 2 }), offer({ host: 'c', slots: 3 })];
    const headless = [offer({ host: 'a', slots: 0, address: '10.0.0.1' }, { cores: 1 }), ...others];
    const head = { host: 'a', address: '10.0.0.1', slots: 0, gpus: null };

    it('puts it first, fills the others, and counts their cores', () => {
      expect(placeRanks(lab, ['train'], headless)).toEqual({
        nodes: [
          head,
          { host: 'b', address: 'b', slots: 2, gpus: null },
          { host: 'c', address: 'c', slots: 3, gpus: null },
        ],
        ranks: 5,
        threadsPerRank: 2,
      });
      const alone = { ranks: 1, nodes: [head, { host: 'b', slots: 1 }] };
      expect(placeRanks(lab, ['hostname'], headless)).toMatchObject(alone);
    });

    it('counts the nodes with ranks', () => {
      expect(placeRanks(lab, ['train'], headless, { nodes: 1 }).nodes).toHaveLength(2);
      expect(placeRanks({ ...lab, maxNodes: 1 }, ['train'], headless).ranks).toBe(2);
      expect(placeRanks(lab, ['torchrun', 'x.py'], headless, { per: 'node' })).toMatchObject({
        ranks: 2,
        nodes: [head, { slots: 1, workers: 2 }, { slots: 1, workers: 3 }],
      });
      expect(() => placeRanks(lab, ['train'], headless, { nodes: 3 })).toThrow(
        expect.objectContaining({
          message: '3 nodes were asked for, and profile lab has 2 beside its head a, which takes no rank.',
          hint: { kind: 'fewerNodes', profile: 'lab', nodes: 2 },
        }),
      );
      expect(() => placeRanks(lab, ['train'], headless, { ranks: 6 })).toThrow(/\(b has 2; c has 3\)/);
    });

    it('passes over a head without GPUs where ranks are to have some', () => {
      const two = [offer({ host: 'a' }), offer({ host: 'b' }, { gpus: [gpu(0), gpu(1)] })];
      const { nodes, ranks } = placeRanks(lab, cuda, two);
      expect([ranks, nodes.map(({ gpus }) => gpus)]).toEqual([2, [null, [0, 1]]]);
      expect(placeRanks(lab, ['train'], two).nodes.map(({ slots }) => slots)).toEqual([1, 2]);
      const none = [offer({ host: 'a' }), offer({ host: 'b' })];
      expect(() => placeRanks(lab, cuda, none)).toThrow(/has a free GPU \(b has 0\)/);
    });

    it('looks for free GPUs of the others where the profile gives the head no slots', () => {
      const all = { profile: lab, ranks: undefined, nodes: undefined, everySlot: true };
      const onB = offer({ host: 'b' }, { gpus: [gpu(0)] });
      expect(noGpusFor(all, [offer({ host: 'a', slots: 0 }), onB])).toBeUndefined();
      expect(noGpusFor(all, [offer({ host: 'a' }), onB])).toBe('no GPU on a');
    });
  });

  const here = (host: object, more: Partial<NodeOffer> = {}): NodeOffer[] => [
    { ...offer({ host: 'me', ...host }, { cores: 2 }), isHere: true, ...more },
  ];
  const local: Profile = { name: 'local', kind: 'local' };

  it('on this machine counts cores where the profile has no slots, and takes two of them', () => {
    expect(placeRanks(local, ['train'], here({}, { cores: 16 }))).toMatchObject({
      ranks: 2,
      threadsPerRank: 8,
    });
    expect(placeRanks(local, ['train'], here({}, { cores: 16 }), { ranks: 3 })).toMatchObject({
      ranks: 3,
      threadsPerRank: 5,
    });
    expect(placeRanks(local, ['train'], here({}, { cores: 1 }))).toMatchObject({
      ranks: 1,
      threadsPerRank: 1,
    });
    expect(placeRanks(local, ['train'], here({ slots: 4 }))).toMatchObject({ ranks: 4, threadsPerRank: 1 });
    expect(placeRanks(local, ['hostname'], here({ slots: 4 })).ranks).toBe(1);
  });

  it('on this machine counts GPUs as on every other node', () => {
    const four = [gpu(0), gpu(1, 'process 7'), gpu(2), gpu(3)];
    expect(placeRanks(local, cuda, here({}, { gpus: four })).nodes[0]?.gpus).toEqual([0, 2, 3]);
    expect(placeRanks(local, cuda, here({ gpus: [3, 0, 1] }, { gpus: four })).nodes[0]?.gpus).toEqual([3, 0]);
    expect(() => placeRanks(local, cuda, here({ slots: 4 }))).toThrow(
      /no node of profile local has a free GPU/,
    );
  });

  it('says how many fit on this machine', () => {
    expect(() => placeRanks(local, ['train'], here({}), { ranks: 3 })).toThrow(
      /3 ranks were asked for, and there are slots for 2 \(me has 2\)\.$/,
    );
    expect(() => placeRanks(local, ['train'], here({}), { nodes: 2 })).toThrow(/profile local has 1/);
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

describe('spare nodes', () => {
  const hosts = ['a', 'b', 'c', 'd'].map((host) => ({ host }));
  const four: Profile = { name: 'lab', kind: 'ssh', hosts, spares: 1 };
  const slots = (...counts: number[]): NodeOffer[] =>
    counts.map((count, at) => offer({ host: hosts[at]?.host ?? '', slots: count }));
  const spread = ({ nodes }: Placement): unknown[] =>
    nodes.map(({ host, slots: count, spare }) =>
      spare === true ? `${host} spare ${count}` : `${host} ${count}`,
    );

  it('wait beside those with ranks, with the slots of the smallest node that they may replace', () => {
    const placed = placeRanks(four, ['train'], slots(4, 2, 3, 4));
    expect(spread(placed)).toEqual(['a 4', 'b 2', 'c 3', 'd spare 2']);
    expect(placed.ranks).toBe(9);
    const two = placeRanks({ ...four, spares: 2 }, ['train'], slots(4, 2, 3, 1));
    expect(spread(two)).toEqual(['a 4', 'b 2', 'c spare 2', 'd spare 1']);
    expect(two.threadsPerRank).toBe(2);
  });

  it('come from the nodes that a number of nodes or ranks leaves', () => {
    expect(spread(placeRanks(four, ['train'], slots(2, 2, 2, 2), { nodes: 2 }))).toEqual([
      'a 2',
      'b 2',
      'c spare 2',
    ]);
    expect(spread(placeRanks(four, ['train'], slots(2, 2, 2, 2), { nodes: 4 }))).toEqual([
      'a 2',
      'b 2',
      'c 2',
      'd 2',
    ]);
    expect(spread(placeRanks(four, ['train'], slots(2, 2, 2, 2), { ranks: 3 }))).toEqual([
      'a 2',
      'b 1',
      'c spare 1',
    ]);
  });

  it('are none where all ranks are on the head, whose place nobody takes', () => {
    expect(spread(placeRanks(four, ['train'], slots(2, 2, 2, 2), { ranks: 2 }))).toEqual(['a 2']);
    expect(spread(placeRanks(four, ['hostname'], slots(2, 2, 2, 2)))).toEqual(['a 1']);
  });

  it('wait beside a head without ranks too', () => {
    const bare = { ...four, hosts: hosts.map((host, at) => (at === 0 ? { ...host, slots: 0 } : host)) };
    expect(spread(placeRanks(bare, ['train'], slots(0, 2, 2, 2)))).toEqual([
      'a 0',
      'b 2',
      'c 2',
      'd spare 2',
    ]);
  });

  it('take one process of a node, with workers, where each node has one', () => {
    const { nodes } = placeRanks(four, ['torchrun', 'x.py'], slots(4, 2, 2, 4), { per: 'node' });
    expect(nodes.at(-1)).toMatchObject({ host: 'd', slots: 1, workers: 2, spare: true });
  });

  it('hold as many GPUs as they are to have ranks, and are refused where none is free', () => {
    const pair = { gpus: [gpu(0), gpu(1)] };
    const offers = hosts.map((host) => offer(host, pair));
    expect(placeRanks(four, cuda, offers).nodes.at(-1)).toMatchObject({
      slots: 2,
      gpus: [0, 1],
      spare: true,
    });
    const taken = hosts.map((host) =>
      offer(host, host.host === 'd' ? { gpus: [gpu(0, 'process 7')] } : pair),
    );
    expect(() => placeRanks(four, cuda, taken)).toThrow(
      /asks for 1 spare node, and has 0 with a free slot \(d has 0, GPU 0 is taken by process 7\)/,
    );
  });
});
