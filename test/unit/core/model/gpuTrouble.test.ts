// What is wrong with GPUs, in words.
import { describe, expect, it } from 'vitest';
import { gpuNotes, gpuTrouble, missingFigures } from '../../../../src/core/model/hosts/gpuTrouble.js';
import { gpuSchema, hostSampleSchema } from '../../../../src/core/contracts/metricsSchema.js';

const gpu = gpuSchema.parse({
  index: 3,
  uuid: 'u',
  name: 'H100',
  memory_used: 1,
  memory_total: 2,
  utilization: null,
  temperature: null,
  power_watts: null,
  processes: [{ pid: 1, user: 'alice', memory_used: null }],
  ecc: { corrected: 3, uncorrected: 1 },
  slowed_by: ['power_cap', 'hardware_heat', 'of_tomorrow'],
  problem: 'GPU is lost',
});

describe('trouble of a GPU', () => {
  it('is named, the worst first', () => {
    expect(gpuTrouble(gpu)).toEqual([
      'does not work: GPU is lost',
      '1 uncorrected memory error',
      'slowed to half or less by heat',
      'slowed: of_tomorrow',
    ]);
    expect(gpuNotes(gpu).slice(4)).toEqual(['3 corrected memory errors', 'slowed by its power limit']);
  });

  it('is nothing where the agent tells nothing of it', () => {
    const { ecc, slowed_by: slowedBy, problem, ...plain } = gpu;
    expect([ecc, slowedBy, problem].length).toBe(3);
    expect(gpuTrouble(plain)).toEqual([]);
    expect(gpuNotes(plain)).toEqual([]);
  });
});

describe('figures that are missing', () => {
  const since = new Date(2026, 10, 22, 16, 20, 5).getTime() / 1000;
  const sample = {
    time: since + 60,
    host: 'gpu1',
    cpu_percent: 1,
    memory_used: 1,
    memory_total: 2,
    disk_free: null,
    gpus: [],
  };

  it('are named with the time since when nobody answers', () => {
    const missing = [
      { what: 'gpus', since, reason: 'no answer' },
      { what: 'disk', path: '/shared/runs', since, reason: 'no answer' },
    ];
    expect(missingFigures(hostSampleSchema.parse({ ...sample, missing }))).toEqual([
      'GPUs: no answer since 16:20:05',
      'disk of /shared/runs: no answer since 16:20:05',
    ]);
    expect(missingFigures(hostSampleSchema.parse(sample))).toEqual([]);
  });
});
