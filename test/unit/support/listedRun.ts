// A run as a list shows it, of which a test names what matters to it.
import { nodePath } from '../../../src/core/base/nodePath.js';
import type { RunOverview } from '../../../src/core/follow/overview.js';
import type { RunStatus } from '../../../src/core/model/runStatus.js';

export const listedRun = (id: string, status: RunStatus, fields: Partial<RunOverview> = {}): RunOverview => ({
  entry: {
    id,
    dir: nodePath(`/w/runs/${id}`),
    run: null,
    state: null,
    interrupted: status === 'interrupted',
  },
  status,
  health: { level: 'good', kind: 'healthy', text: 'healthy' },
  restarting: undefined,
  step: undefined,
  totalSteps: undefined,
  epoch: undefined,
  totalEpochs: undefined,
  fraction: undefined,
  imagesPerSec: undefined,
  medianRate: undefined,
  rateWriters: 1,
  loss: undefined,
  top1: undefined,
  best: undefined,
  top1At: () => undefined,
  otherAt: () => undefined,
  checkpoint: undefined,
  secondsLeft: undefined,
  secondsPerStep: undefined,
  cost: undefined,
  gpuHours: undefined,
  spending: () => undefined,
  ...fields,
});
