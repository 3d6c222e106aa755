// Where the form says that a run would go.
import { expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { requestOf } from '../../../../src/core/plan/request/request.js';
import { placeText } from '../../../../src/ui/form/formView.js';
import { misfitFields } from '../../../../src/ui/form/misfit.js';
import type { HostFigures } from '../../../../src/ui/tree/clusterFigures.js';

const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'n1' }, { host: 'n2' }] };
const words = ['train', '--model', 'mlp', '--data', 'synthetic'];
const request = requestOf({ profile: lab, words, nodes: 2, cwd: '/' });
const figures = (name: string, latest: HostFigures['latest']): HostFigures =>
  ({ name, cores: 2, cudaBuild: undefined, problem: undefined, latest }) as HostFigures;

it('says nothing of a profile that is not connected, nor before all nodes have told their figures', async () => {
  expect(await placeText(request, [])).toBeUndefined();
  expect(await placeText(request, [figures('n1', undefined), figures('n2', undefined)])).toBeUndefined();
});

it('waits for the figures of the head and of the hosts that are named alone', async () => {
  const three: Profile = { ...lab, hosts: ['n1', 'n2', 'n3'].map((host) => ({ host, slots: 1 })) };
  const on = (host: string, profile = three): ReturnType<typeof requestOf> =>
    requestOf({ profile, words: [...words, '--device', 'cpu'], hosts: [host], cwd: '/' });
  const sample = { host: '', gpus: [] } as unknown as HostSample;
  const told = (name: string): HostFigures => figures(name, { at: Date.now(), sample });
  const text = async (request: ReturnType<typeof requestOf>): Promise<string | undefined> =>
    (await placeText(request, [told('n1'), figures('n2', undefined), told('n3')]))?.text;
  expect(await text(on('n3'))).toBe('1 rank on n3.');
  expect(await text(on('n2'))).toBeUndefined();
  expect(await text(on('n3', { ...three, head: 'n2' }))).toBeUndefined();
});

it('marks the fields that ask for more than there is, each with its own reason', async () => {
  const here: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'n1', slots: 4 }] };
  const sample = { host: '', gpus: [] } as unknown as HostSample;
  const wrong = async (asked: { gpus?: string; ranks?: number; wait?: boolean }): Promise<unknown> => {
    const own = requestOf({ profile: here, words: ['python3', 'train.py'], ...asked, cwd: '/' });
    return (await placeText(own, [figures('n1', { at: Date.now(), sample })]))?.problems;
  };
  const noGpu = expect.stringMatching(/^n1 has no GPU, and 4 were asked for\./) as unknown;
  const tooMany = expect.stringMatching(/^99 ranks were asked for, and there are slots for 4/) as unknown;
  expect(await wrong({ gpus: '4' })).toEqual({ gpus: noGpu });
  expect(await wrong({ ranks: 99 })).toEqual({ ranks: tooMany });
  expect(await wrong({ gpus: '4', ranks: 99 })).toEqual({ gpus: noGpu, ranks: tooMany });
  expect(await wrong({ gpus: '4', wait: true })).toEqual({});
  expect(await wrong({ ranks: 2 })).toBeUndefined();
  const both = new UserError('preflight', 'not both', 'Ask for one');
  const asked = requestOf({ profile: here, words: ['python3'], gpus: '1', ranks: 2, cwd: '/' });
  expect(await misfitFields(asked, both, () => Promise.resolve())).toEqual({
    ranks: 'not both. Ask for one.',
  });
});
