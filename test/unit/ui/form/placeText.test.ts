// Where the form says that a run would go.
import { expect, it } from 'vitest';
import type { HostSample } from '../../../../src/core/contracts/metricsSchema.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { requestOf } from '../../../../src/core/plan/request/request.js';
import { placeText } from '../../../../src/ui/form/formView.js';
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
