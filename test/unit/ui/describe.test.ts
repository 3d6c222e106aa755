import { describe, expect, it } from 'vitest';
import type { RunOverview } from '../../../src/core/runs/overview.js';
import type { RunStatus } from '../../../src/core/runs/status.js';
import { describeGpu, describeHost, describeRun, shortName } from '../../../src/ui/tree/describe.js';

const overview = (status: RunStatus, fields: Partial<RunOverview> = {}): RunOverview => ({
  entry: { id: '20261121-104500-resnet20-1f2e', dir: '/w/r', run: null, state: null, interrupted: false },
  status,
  step: 102,
  totalSteps: 300,
  epoch: 4,
  imagesPerSec: 1204.4,
  top1: 0.952,
  ...fields,
});

describe('a run in the tree', () => {
  it('says phase, progress and images/s while it runs', () => {
    expect(describeRun(overview('running'))).toMatchObject({
      label: 'resnet20-1f2e 11-21 10:45',
      description: 'running · 34.0% · 1,204 img/s',
      contextValue: 'run.active',
    });
    expect(describeRun(overview('running', { totalSteps: undefined })).description).toBe(
      'running · step 102 · 1,204 img/s',
    );
    expect(describeRun(overview('starting', { step: undefined, imagesPerSec: undefined })).description).toBe(
      'starting',
    );
  });

  it('says how it ended', () => {
    expect(describeRun(overview('finished'))).toMatchObject({
      description: 'finished · 95.2%',
      contextValue: 'run.over',
    });
    expect(describeRun(overview('interrupted')).contextValue).toBe('run.over');
    const failed = overview('failed');
    const state = { reason: 'rank 1: out of memory' } as unknown as RunOverview['entry']['state'];
    expect(describeRun({ ...failed, entry: { ...failed.entry, state } }).description).toBe(
      'failed: rank 1: out of memory',
    );
  });

  it('has a word and an icon for every phase', () => {
    const phases: RunStatus[] = [
      'starting',
      'running',
      'stopping',
      'evaluating',
      'finished',
      'stopped',
      'failed',
      'interrupted',
      'unknown',
    ];
    for (const phase of phases) {
      const { description, icon } = describeRun(overview(phase));
      expect(description).toContain(phase);
      expect(icon).not.toBe('');
    }
  });

  it('shows a foreign name as it is', () => {
    expect(shortName('my-run')).toBe('my-run');
  });
});

it('a host and a GPU', () => {
  const gpu = {
    index: 0,
    uuid: 'u',
    name: 'H100 80GB',
    memory_used: 61.2e9,
    memory_total: 79.6e9,
    utilization: 97,
    temperature: null,
    power_watts: null,
    processes: [],
  };
  const sample = {
    time: 1,
    host: 'gpu1',
    cpu_percent: 34.6,
    memory_used: 3.1e9,
    memory_total: 23.5e9,
    disk_free: 8e11,
    gpus: [gpu],
  };
  expect(describeHost(sample, 1)).toMatchObject({ label: 'gpu1', description: '1 core at 35%, 3.1/23.5 GB' });
  expect(describeGpu(gpu)).toMatchObject({ label: 'GPU 0  H100 80GB', description: '61.2/79.6 GB · 97%' });
});
