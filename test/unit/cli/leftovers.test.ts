import { expect, it } from 'vitest';
import { stillAlive } from '../../../src/cli/verbs/cluster/leftovers.js';

it('clean says what ends a run that is supervised, and what ends one that is not', () => {
  const dir = '/home/ada/.trainyard/runs/20261121-104500-mlp-1f2e';
  const what = `on gpu1 processes of ${dir} are alive`;
  expect(stillAlive('gpu1', { dir, supervised: true }, 'lab')).toMatchObject({
    what,
    hint: 'Stop the run: trainyard stop 20261121-104500-mlp-1f2e --profile lab',
  });
  expect(stillAlive('gpu1', { dir, supervised: false }, 'lab')).toMatchObject({
    what,
    hint: 'End them: trainyard kill-leftovers lab',
  });
});
