// Which build of the CUDA back end compute nodes get, by what jobs noted of their drivers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { oldestDrivers } from '../../../../src/core/setup/cudaBuild.js';
import { chooseElsewhere, type NotedNode } from '../../../../src/core/setup/notedDrivers.js';

const day = 86_400;
const v100 = '1db6';
const a100 = '20b2';
const note = (node: string, driver: string, { gpu = a100, days = 0 } = {}): NotedNode => ({
  ...{ node, driver, gpus: [gpu], time: 1_795_737_600 - days * day },
});
const both = (): boolean => true;

describe('the build for compute nodes', () => {
  it("is CUDA 12's where nothing is noted", () => {
    expect(chooseElsewhere([], ['gpu', 'long'], both)).toEqual({
      release: 12,
      why: 'no job has noted the drivers of the nodes of partition gpu,long yet, and most drivers run it',
    });
    expect(chooseElsewhere([], [], both).why).toContain('of the nodes yet');
  });

  it.each([
    [[note('n1', '580.65.06')], 13, 'on n1 driver 580.65.06 runs it'],
    [[note('n1', '580.65.06'), note('n2', '550.54')], 12, 'on n2 driver 550.54 is older than 580'],
    [[note('n1', '580.65.06', { gpu: v100 })], 12, "on n1 CUDA 13's has no code for Volta GPUs"],
    // A node that takes neither build keeps the others from none.
    [[note('n1', '470.1'), note('n2', '580.65.06')], 13, 'on n2 driver 580.65.06 runs it'],
    [[note('n1', '470.1')], 12, 'on n1 the NVIDIA driver is 470.1, and CUDA needs 525 or newer'],
  ] as const)('fits what is noted: %j', (noted, release, why) => {
    expect(chooseElsewhere(noted, [], both)).toEqual({ release, why });
  });

  it('leaves out notes that are 30 days older than the newest', () => {
    const renewed = [note('n1', '580.65.06'), note('n2', '550.54', { days: 31 })];
    expect(chooseElsewhere(renewed, [], both).release).toBe(13);
    const lately = [note('n1', '580.65.06'), note('n2', '550.54', { days: 29 })];
    expect(chooseElsewhere(lately, [], both).release).toBe(12);
  });

  it('is refused by the job below the same driver', () => {
    const job = join(import.meta.dirname, '../../../../native/agent/slurm/slurm_nodes.py');
    const oldest = /^OLDEST = (\d+)/m.exec(readFileSync(job, 'utf8'))?.[1];
    expect(Number(oldest)).toBe(Math.min(...Object.values(oldestDrivers)));
  });

  it('is one that is there, where that runs too', () => {
    const only = (there: number) => (release: number) => release === there;
    expect(chooseElsewhere([note('n1', '580.65.06')], [], only(12)).release).toBe(12);
    expect(chooseElsewhere([], [], only(13)).release).toBe(13);
    // CUDA 13's would not run. takenCudaBuild says that this one is missing.
    expect(chooseElsewhere([note('n1', '550.54')], [], only(13)).release).toBe(12);
  });
});
