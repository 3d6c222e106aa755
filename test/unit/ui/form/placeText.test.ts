// Where the form says that a run would go.
import { expect, it } from 'vitest';
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
