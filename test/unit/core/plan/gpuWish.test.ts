import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { placeRun } from '../../../../src/core/plan/device.js';
import { gpuWishOf } from '../../../../src/core/plan/request/gpuWish.js';
import type { NodeOffer, Placement } from '../../../../src/core/plan/placement.js';
import { requestOf, type TypedRun } from '../../../../src/core/plan/request/request.js';

it.each([
  ['2', { count: 2, indices: undefined }],
  ['0,2', { count: 2, indices: [0, 2] }],
  ['3,1,0', { count: 3, indices: [3, 1, 0] }],
  ['1,', { count: 1, indices: [1] }],
])('%s is a wish', (text, wish) => {
  expect(gpuWishOf(text, '--gpus')).toEqual({ ...wish, text });
});

it.each([
  ['', /must be a number of GPUs or a list of indices, not ""/],
  [',', /not ","/],
  ['0', /at least one GPU/],
  ['-1', /not "-1"/],
  ['0,-1', /not "0,-1"/],
  ['0,,2', /not "0,,2"/],
  ['two', /not "two"/],
  ['0, 2', /not "0, 2"/],
  ['9999', /not "9999"/],
  ['0,2,0', /--gpus names GPU 0 twice/],
])('%j is none', (text, message) => {
  expect(() => gpuWishOf(text, '--gpus')).toThrow(message);
  expect(() => gpuWishOf(text, '--gpus')).toThrow(expect.objectContaining({ code: 'usage' }));
});

describe('a run that asks for GPUs', () => {
  const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }, { host: 'b' }] };
  const offer = (host: NodeOffer['host'], busy: readonly (string | undefined)[]): NodeOffer => ({
    host,
    address: host.host,
    cores: 8,
    gpus: busy.map((holder, index) => ({ index, busy: holder })),
  });
  const free = [undefined, undefined, undefined, undefined];
  const offers = [offer({ host: 'a' }, free), offer({ host: 'b' }, ['run r7 (process 9)', ...free.slice(1)])];
  const placed = async (
    words: string[],
    gpus: string,
    more: Partial<TypedRun> = {},
    of = offers,
  ): Promise<Placement> => {
    const request = requestOf({ profile: lab, words, cwd: '/', gpus, ...more });
    const no = (): never => {
      throw new Error('nobody asks');
    };
    return (await placeRun(request, of, { before: no, backEnd: no })).placement;
  };
  const gpusOf = async (...args: Parameters<typeof placed>): Promise<(number[] | null)[]> =>
    (await placed(...args)).nodes.map(({ gpus }) => gpus);

  it('gives a training so many ranks on each node', async () => {
    expect(await placed(['train'], '2')).toMatchObject({
      ranks: 4,
      nodes: [
        { slots: 2, gpus: [0, 1] },
        { slots: 2, gpus: [1, 2] },
      ],
    });
    expect(await gpusOf(['train'], '3,1')).toEqual([
      [3, 1],
      [3, 1],
    ]);
    expect(await gpusOf(['train'], '4', { nodes: 1 })).toEqual([[0, 1, 2, 3]]);
    expect(await gpusOf(['train'], '3,1', { ranks: 1 })).toEqual([[3]]);
  });

  it('gives an own program all of them, however many processes it has', async () => {
    expect(await placed(['python', 'x.py'], '4')).toMatchObject({
      ranks: 1,
      nodes: [{ host: 'a', slots: 1, gpus: [0, 1, 2, 3] }],
    });
    expect(await gpusOf(['python', 'x.py'], '2,1', { ranks: 3 })).toEqual([
      [2, 1],
      [2, 1],
    ]);
  });

  it('goes before what the profile has', async () => {
    const few = [offer({ host: 'a', slots: 1, gpus: [1, 2] }, free), offer({ host: 'b' }, free)];
    expect(await gpusOf(['train'], '2', { nodes: 1 }, few)).toEqual([[1, 2]]);
    expect(await gpusOf(['train'], '0,3', { nodes: 1 }, few)).toEqual([[0, 3]]);
  });

  it.each([
    ['4', /^b has 3 free of the 4 GPUs that were asked for \(GPU 0 is taken by run r7 \(process 9\)\)/],
    ['0,2', /^not all of the GPUs 0, 2 of b are free \(GPU 0 is taken by run r7 \(process 9\)\)/],
  ])('names who holds what is lacking: %s', async (wish, message) => {
    await expect(placed(['train'], wish)).rejects.toMatchObject({
      code: 'preflight',
      message: expect.stringMatching(message) as string,
      hint: { kind: 'otherGpus', profile: 'lab' },
    });
  });

  it('says so where a node has fewer, for which nobody need wait', async () => {
    await expect(placed(['train'], '9')).rejects.toMatchObject({
      code: 'preflight',
      message: expect.stringMatching(/^[ab] has 4 GPUs, and 9 were asked for/) as string,
      hint: { kind: 'fewerGpus', gpus: 4 },
    });
  });

  it('is refused where a GPU is not there, or the device is the CPU', async () => {
    await expect(placed(['train'], '0,7')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('a has no GPU 7: it has the GPUs 0, 1, 2, 3') as string,
    });
    await expect(placed(['train', '--device', 'cpu'], '1')).rejects.toMatchObject({ code: 'usage' });
  });
});
