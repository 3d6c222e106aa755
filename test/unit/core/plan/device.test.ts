import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { cudaTrial, judgeCuda } from '../../../../src/core/plan/cudaTrial.js';
import { placeRun, type DeviceLooks, type PlacedRun } from '../../../../src/core/plan/device.js';
import type { NodeOffer } from '../../../../src/core/plan/placement.js';
import { requestOf, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';

const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
const offer = (host: string, gpus: number, more: Partial<NodeOffer> = {}): NodeOffer => ({
  host: { host, slots: 2 },
  address: host,
  cores: 8,
  gpus: Array.from({ length: gpus }, (_, index) => ({ index, busy: undefined })),
  ...more,
});
const busy = { gpus: [{ index: 0, busy: 'process 7' }] };

interface Case {
  profile?: Profile;
  words?: string[];
  wanted?: Partial<TypedRun>;
  offers: NodeOffer[];
  looks?: { before?: 'cpu' | 'cuda'; backEnd?: string };
}
const unasked = (): never => {
  throw new Error('nothing had to be asked');
};
function place({ profile = lab, words = ['train'], wanted = {}, offers, looks }: Case): Promise<PlacedRun> {
  const given: DeviceLooks = looks
    ? { before: () => Promise.resolve(looks.before), backEnd: () => Promise.resolve(looks.backEnd) }
    : { before: unasked, backEnd: unasked };
  return placeRun(requestOf({ profile, words, cwd: '/', ...wanted }), offers, given);
}

describe('a profile that says itself which GPUs are visible', () => {
  const profile: Profile = { ...lab, env: { CUDA_VISIBLE_DEVICES: '1' } };
  const offers = [offer('a', 2), offer('b', 2)];

  it('is refused where GPUs are asked for, and else computes on the CPU', async () => {
    const asked = { profile, offers, words: ['python', 'x.py'], wanted: { gpus: '1' } };
    await expect(place(asked)).rejects.toThrow(/lab sets CUDA_VISIBLE_DEVICES.*Remove it from "env"/);
    const { device, choice } = await place({ profile, offers, looks: {} });
    expect({ device, why: choice?.why }).toMatchObject({
      device: 'cpu',
      why: expect.stringContaining('lab sets CUDA_VISIBLE_DEVICES') as string,
    });
    expect(await place({ profile, offers, words: ['python', 'x.py'] })).toMatchObject({ device: 'cpu' });
  });
});

describe('auto', () => {
  it.each<[string, Case, 'cpu' | 'cuda', string]>([
    [
      'GPUs on every node',
      { offers: [offer('a', 2), offer('b', 1)], looks: {} },
      'cuda',
      'free GPUs: 2 on a, 1 on b',
    ],
    ['no GPU', { offers: [offer('a', 0)], looks: {} }, 'cpu', 'no GPU on a'],
    ['one node without', { offers: [offer('a', 2), offer('b', 0)], looks: {} }, 'cpu', 'no GPU on b'],
    ['a head without', { offers: [offer('a', 0), offer('b', 2)], looks: {} }, 'cpu', 'no GPU on a'],
    [
      'a node without that no rank needs',
      { offers: [offer('a', 2), offer('b', 0)], wanted: { ranks: 2 }, looks: {} },
      'cuda',
      'free GPUs: 2 on a',
    ],
    [
      'a node without that was not chosen',
      { offers: [offer('a', 2), offer('b', 0)], wanted: { nodes: 1 }, looks: {} },
      'cuda',
      'free GPUs: 2 on a',
    ],
    [
      'fewer GPUs than ranks',
      { offers: [offer('a', 1), offer('b', 2)], wanted: { ranks: 4 }, looks: {} },
      'cpu',
      '4 ranks were asked for, and 3 GPUs are free (a has 1; b has 2)',
    ],
    [
      'a GPU that is taken',
      { offers: [offer('a', 1, busy)], looks: {} },
      'cpu',
      'no free GPU on a: GPU 0 is taken by process 7',
    ],
    [
      'figures that are missing',
      { offers: [offer('a', 0, { trouble: 'GPUs: no answer since 16:20:05' })], looks: {} },
      'cpu',
      'no GPU on a: GPUs: no answer since 16:20:05',
    ],
    [
      'a back end that is missing or does not run',
      { offers: [offer('a', 2)], looks: { backEnd: 'a: the NVIDIA driver is 550' } },
      'cpu',
      'a: the NVIDIA driver is 550',
    ],
    [
      'a run that goes on',
      { offers: [offer('a', 2)], looks: { before: 'cpu' } },
      'cpu',
      'the earlier run in this folder used it',
    ],
    [
      'a run on GPUs that goes on',
      { offers: [offer('a', 2)], looks: { before: 'cuda' } },
      'cuda',
      'the earlier run in this folder used it',
    ],
  ])('with %s', async (_what, given, used, why) => {
    for (const words of [['train'], ['train', '--device', 'auto'], ['bench', 'matmul', '--device=auto']]) {
      const placed = await place({ ...given, words });
      expect(placed.choice).toEqual({ asked: 'auto', used, why });
      expect(placed.device).toBe(used);
      for (const { gpus } of placed.placement.nodes) expect(gpus === null).toBe(used === 'cpu');
    }
  });

  it('keeps a run on GPUs from going on where they are gone', async () => {
    await expect(place({ offers: [offer('a', 0)], looks: { before: 'cuda' } })).rejects.toMatchObject({
      code: 'preflight',
    });
  });
});

describe('a device that is asked for', () => {
  it('is taken without a further look', async () => {
    const cpu = await place({ words: ['train', '--device', 'cpu'], offers: [offer('a', 2)] });
    expect(cpu.choice).toEqual({ asked: 'cpu', used: 'cpu', why: 'it was asked for' });
    const cuda = await place({ words: ['train', '--device', 'cuda'], offers: [offer('a', 2)] });
    expect(cuda.choice).toEqual({ asked: 'cuda', used: 'cuda', why: 'it was asked for' });
  });

  it('is as before where the words of an earlier run name it', async () => {
    const words = ['train', '--device', 'cpu'];
    const offers = [offer('a', 2)];
    const before = await place({ words, offers, wanted: { deviceBefore: 'cpu' } });
    expect(before.choice).toEqual({ asked: 'cpu', used: 'cpu', why: 'as before' });
    const other = await place({ words, offers, wanted: { deviceBefore: 'cuda' } });
    expect(other.choice?.why).toBe('it was asked for');
  });

  it('is refused where it is not there', async () => {
    const words = ['train', '--device', 'cuda'];
    for (const offers of [[offer('a', 0)], [offer('a', 1, busy)]]) {
      await expect(place({ words, offers })).rejects.toMatchObject({ code: 'preflight' });
    }
  });

  it('is not recorded of an own program, nor where nothing is said', async () => {
    const own = await place({ words: ['python', 'x.py', '--device', 'cuda'], offers: [offer('a', 2)] });
    expect(own).toMatchObject({ device: 'cuda', choice: undefined });
    const plain = await place({ words: ['python', 'x.py', '--device', 'auto'], offers: [offer('a', 2)] });
    expect(plain).toMatchObject({ device: 'cpu', choice: undefined });
    const verb = await place({ words: ['eval', '--data', '/d'], offers: [offer('a', 2)] });
    expect(verb).toMatchObject({ device: 'cpu', choice: undefined });
  });
});

describe('the back end', () => {
  it('is tried with the libraries and the environment of the ranks', () => {
    const runtime = {
      trainer: nodePath('/n/bin/trainer'),
      nvidia: [nodePath('/l/a'), nodePath('/l/b')],
    };
    expect(cudaTrial(runtime, { A: 'b c' })).toEqual([
      ...['env', 'TRAINYARD_NVIDIA_LIBRARIES=/l/a:/l/b', 'A=b c', 'CUDA_DEVICE_ORDER=PCI_BUS_ID'],
      ...['/n/bin/trainer', 'devices', '--json'],
    ]);
  });

  const cpu = '{"device":"cpu","cores":2,"usable":true}';
  const gpu = (index: number, more = '"usable":true'): string => `{"device":"cuda","index":${index},${more}}`;
  const old = '"usable":false,"reason":"the CUDA library holds no code for 6.1"';
  it.each([
    [0, [cpu, gpu(0), gpu(1)], undefined],
    [0, ['a line of a library', '{half', cpu, gpu(0), gpu(1, old)], undefined],
    [0, [cpu, gpu(0, old), gpu(1)], 'GPU 0: the CUDA library holds no code for 6.1'],
    [0, [cpu, '{"device":"cuda","usable":false,"reason":"no GPU is visible"}'], 'no GPU is visible'],
    [0, [cpu], 'the trainer says nothing of CUDA'],
    [127, [], 'the trainer does not run'],
    [null, [], 'the trainer does not run'],
  ])('answers with exit %s and %j', (code, lines, expected) => {
    expect(judgeCuda([0], { code, output: lines.join('\n') })).toBe(expected);
  });
});
