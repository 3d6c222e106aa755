// Which build of the CUDA back end a node gets, by its driver and its GPUs; and what is read of
// this machine's.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { chooseCudaBuild, cudaBuildText, takenCudaBuild } from '../../../../src/core/setup/cudaBuild.js';
import { localGpus } from '../../../../src/core/setup/localGpus.js';

// By their PCI device numbers.
const v100 = '1db6';
const titanV = '1d81';
const p100 = '15f8';
const t4 = '1eb8';
const gtx1660 = '2184';
const a100 = '20b2';
const l4 = '27b8';
const h100 = '2330';

describe('the build of the CUDA back end', () => {
  // Drivers as the first line of /proc/driver/nvidia/version names them.
  it.each([
    ['580.65.06', [h100, h100], 13, 'driver 580.65.06 runs it'],
    ['580.65.06', [a100], 13, 'driver 580.65.06 runs it'],
    ['595.10', [l4], 13, 'driver 595.10 runs it'],
    ['1000.1', [], 13, 'driver 1000.1 runs it'],
    ['580.65.06', [v100], 12, "CUDA 13's has no code for Volta GPUs"],
    ['580.65.06', [a100, titanV], 12, "CUDA 13's has no code for Volta GPUs"],
    ['580.65.06', [t4], 12, "CUDA 13's has no code for Turing GPUs"],
    ['590.48.01', [gtx1660], 12, "CUDA 13's has no code for Turing GPUs"],
    ['580.65.06', [p100], 13, 'driver 580.65.06 runs it'],
    ['579.99', [h100], 12, 'driver 579.99 is older than 580'],
    ['535.104.05', [v100], 12, 'driver 535.104.05 is older than 580'],
    ['525.60.13', [a100], 12, 'driver 525.60.13 is older than 580'],
    ['524.9', [a100], undefined, 'the NVIDIA driver is 524.9, and CUDA needs 525 or newer'],
    ['470.256.02', [v100], undefined, 'the NVIDIA driver is 470.256.02, and CUDA needs 525 or newer'],
    ['', [h100], undefined, 'the NVIDIA driver is , and CUDA needs 525 or newer'],
    [null, [h100], undefined, 'there is no NVIDIA driver'],
  ] as const)('with driver %s and GPUs %j: %s, since %s', (driver, gpus, release, why) => {
    expect(chooseCudaBuild({ driver, gpus })).toEqual({ release, why });
  });

  it('is what the profile says where other nodes have the GPUs', () => {
    for (const driver of [null, '535.104.05']) {
      for (const release of [12, 13] as const) {
        const gpusElsewhere = { release, why: 'the profile asks for it' };
        expect(chooseCudaBuild({ driver, gpusElsewhere })).toEqual(gpusElsewhere);
      }
    }
  });

  it('is none where this Trainyard has the other one only', () => {
    const node = { driver: '535.104.05', gpus: [a100] };
    expect(takenCudaBuild(node, () => true)).toEqual(chooseCudaBuild(node));
    const without = takenCudaBuild(node, (release) => release === 13);
    expect(without.release).toBe(undefined);
    expect(cudaBuildText(without)).toBe(
      'no CUDA back end, since this build of Trainyard has no CUDA back end for CUDA 12 (driver 535.104.05 is older than 580)',
    );
    expect(takenCudaBuild({ driver: null }, () => true).why).toBe('there is no NVIDIA driver');
  });

  it('needs no list of GPUs', () => {
    expect(chooseCudaBuild({ driver: '580.65.06' }).release).toBe(13);
  });
});

describe("this machine's GPUs", () => {
  let root = '';
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });
  const put = (path: string, text: string): void => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  it('are those of NVIDIA, by driver and PCI device number', async () => {
    root = mkdtempSync(join(tmpdir(), 'trainyard-gpus-'));
    expect(await localGpus(root)).toEqual({ driver: null, gpus: [] });
    const version = 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build';
    put('proc/driver/nvidia/version', `${version}\nGCC version:  gcc version 12.2.0\n`);
    for (const [name, vendor, kind, device] of [
      ['0000:3b:00.0', '0x10de', '0x030200', '0x1DB6'],
      ['0000:3b:00.1', '0x10de', '0x040300', '0x10f0'], // its sound
      ['0000:00:02.0', '0x8086', '0x030000', '0x9bc5'],
    ] as const) {
      put(`sys/bus/pci/devices/${name}/vendor`, `${vendor}\n`);
      put(`sys/bus/pci/devices/${name}/class`, `${kind}\n`);
      put(`sys/bus/pci/devices/${name}/device`, `${device}\n`);
    }
    mkdirSync(join(root, 'sys/bus/pci/devices/gone'));
    expect(await localGpus(root)).toEqual({ driver: '580.65.06', gpus: ['1db6'] });
  });
});
