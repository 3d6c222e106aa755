import { expect, it } from 'vitest';
import type { RunDetails } from '../../../../src/core/contracts/agentApi.js';
import { nodesNow } from '../../../../src/core/slurm/step.js';

const details = (launcher: string, kind: string): RunDetails =>
  ({
    run: { launcher, nodes: [{ host: 'n1' }, { host: 'n2' }] },
    queue: { job: '7', kind },
  }) as unknown as RunDetails;

it('a run has its nodes once its job has written them, and while the job runs', () => {
  expect(nodesNow(details('manual', 'running'))).toEqual([
    { job: '7', host: 'n1' },
    { job: '7', host: 'n2' },
  ]);
  expect(nodesNow(details('slurm', 'running'))).toEqual([]);
  // Those of an earlier start.
  expect(nodesNow(details('manual', 'waiting'))).toEqual([]);
  expect(nodesNow(details('manual', 'ended'))).toEqual([]);
});
