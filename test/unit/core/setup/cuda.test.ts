// Which nodes get the CUDA back end, and which of NVIDIA's libraries they are given.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { chooseLibraries, nvidiaLibraries, type FoundLibrary } from '../../../../src/core/setup/cuda.js';
import { cudaReleases, type CudaRelease } from '../../../../src/core/setup/cudaBuild.js';
import type { CudaPayload, Payload, PayloadFile } from '../../../../src/core/setup/payload.js';
import { checkProbe, filesFor, withOwnFolder, type Probe } from '../../../../src/core/setup/probe.js';
import { requirementsFor } from '../../../../src/core/setup/wheels.js';

const repository = join(import.meta.dirname, '../../../..');
const lockNames = { 13: 'cuda.txt', 12: 'cuda12.txt' } as const;
const read = (folder: string, release: CudaRelease): string =>
  readFileSync(join(repository, folder, lockNames[release]), 'utf8');
const pinned = read('native/runtime', 13);
const pinned12 = read('native/runtime', 12);

const probe: Probe = {
  python: [3, 11, 2],
  machine: 'x86_64',
  system: 'Linux',
  glibc: '2.36',
  home: nodePath('/home/you'),
  uid: 1000,
  workdir: nodePath('/home/you/.trainyard'),
  problem: null,
  libgomp: true,
  driver: null,
  killsUserProcesses: false,
  cores: 8,
  nodeDir: nodePath('/w/node/plain'),
  hasNode: true,
  cudaNodes: [
    { dir: nodePath('/w/node/cuda13'), has: false },
    { dir: nodePath('/w/node/cuda12'), has: true },
  ],
};
const file = (name: string): PayloadFile => ({
  name,
  bytes: Buffer.alloc(0),
  sha256: name,
  executable: true,
});
const cudaBuild = (release: CudaRelease): CudaPayload => ({
  release,
  library: { ...file('cuda/libtrainer_cuda.so'), sha256: String(release) },
  node: `cuda${release}`,
  requirements: release === 13 ? pinned : pinned12,
});
const payload: Payload = {
  files: [file('bin/agent'), file('bin/trainer')],
  node: 'plain',
  requirements: '',
  pip: '',
  runtime: '',
  hashes: { agent: '', trainer: '', requirements: '' },
  cuda: cudaReleases.map((release) => cudaBuild(release)),
  bootstrap: '',
};

describe('a node', () => {
  it.each([
    ['580.65.06', [], '13', '/w/node/cuda13', false],
    ['580.65.06', ['1db6'], '12', '/w/node/cuda12', true],
    ['575.64.03', [], '12', '/w/node/cuda12', true],
    ['470.256.02', [], undefined, '/w/node/plain', true],
    [null, [], undefined, '/w/node/plain', true],
  ])('with driver %s and GPUs %j gets build %s', (driver, gpus, build, folder, has) => {
    const here = { ...probe, driver, gpus };
    const files = filesFor(here, payload);
    expect(files.slice(0, 2)).toEqual(payload.files);
    expect(files.slice(2).map(({ name, sha256 }) => [name, sha256])).toEqual(
      build === undefined ? [] : [['cuda/libtrainer_cuda.so', build]],
    );
    const { nodeDir, hasNode } = withOwnFolder(here, payload);
    expect([nodeDir, hasNode]).toEqual([folder, has]);
  });

  it('gets what it always got from a build without the CUDA back end, or with the other one', () => {
    const here = { ...probe, driver: '580.65.06' };
    for (const cuda of [[], [cudaBuild(12)]]) {
      const without = { ...payload, cuda };
      expect(filesFor(here, without)).toBe(payload.files);
      expect(withOwnFolder(here, without)).toBe(here);
    }
  });

  it.each([
    ['580.65.06', [], "NVIDIA 580.65.06: CUDA 13's build, since driver 580.65.06 runs it"],
    ['580.65.06', ['1db6'], "NVIDIA 580.65.06: CUDA 12's build, since CUDA 13's has no code for Volta GPUs"],
    ['550.54.15', ['20b2'], "NVIDIA 550.54.15: CUDA 12's build, since driver 550.54.15 is older than 580"],
  ])('with driver %s and GPUs %j says which build it takes, and why', (driver, gpus, detail) => {
    for (const wantsGpu of [true, false]) {
      const row = checkProbe({ ...probe, driver, gpus }, wantsGpu, 'gpu1').find(
        ({ name }) => name === 'driver',
      );
      expect(row).toMatchObject({ ok: true, detail });
    }
  });

  it('whose driver is too old is told which to install, where it matters', () => {
    const row = (wantsGpu: boolean): unknown =>
      checkProbe({ ...probe, driver: '470.256.02' }, wantsGpu, 'gpu1').find(({ name }) => name === 'driver');
    expect(row(true)).toMatchObject({
      ok: false,
      detail: 'the NVIDIA driver is 470.256.02, and CUDA needs 525 or newer',
      hint: 'Install driver 580, or 525 at least',
    });
    expect(row(false)).toMatchObject({ ok: true, detail: 'NVIDIA 470.256.02, too old for CUDA' });
  });
});

const found = (name: string, folder: string, version: number[], cuda = 13): FoundLibrary => ({
  package: name,
  folder: nodePath(folder),
  version,
  cuda,
});
const cublas = found('nvidia-cublas', '/usr/local/cuda-13.0/lib64', [13, 0, 0]);
const nvrtc = found('nvidia-cuda-nvrtc', '/usr/local/cuda-13.0/lib64', [13, 0, 0]);
const cudnn = found('nvidia-cudnn-cu13', '/usr/lib/x86_64-linux-gnu', [9, 20, 1]);
const nccl = found('nvidia-nccl-cu13', '/usr/lib/x86_64-linux-gnu', [2, 28, 3]);
const nvjpeg = found('nvidia-nvjpeg', '/usr/local/cuda-13.0/lib64', [13, 0, 1]);

describe("NVIDIA's libraries", () => {
  it('are all brought where none is there', () => {
    const { reused, wheels } = chooseLibraries([], pinned, 13);
    expect(reused).toEqual([]);
    expect(wheels?.titles).toEqual(['cuBLAS', 'NVRTC', 'cuDNN', 'NCCL', 'nvJPEG']);
    expect(wheels?.folders).toEqual(['lib/nvidia/cu13/lib', 'lib/nvidia/cudnn/lib', 'lib/nvidia/nccl/lib']);
    expect(wheels?.requirements.match(/^nvidia-\S+==\S+ \\\n {4}--hash=sha256:[0-9a-f]{64}$/gm)).toHaveLength(
      5,
    );
    expect(requirementsFor(wheels!.requirements, [3, 9])).toBe(wheels!.requirements);
  });

  it('are not brought where they are of the right versions', () => {
    expect(chooseLibraries([nvjpeg, nccl, cudnn, nvrtc, cublas], pinned, 13)).toEqual({
      reused: [cublas, nvrtc, cudnn, nccl, nvjpeg],
      wheels: undefined,
    });
  });

  it.each([
    ['an older cuDNN', { ...cudnn, version: [9, 13, 0] }],
    ['a cuDNN for CUDA 12', { ...cudnn, cuda: 12 }],
    ['a cuDNN 10', { ...cudnn, version: [10, 0, 0] }],
  ])('are brought one by one: %s is left', (_, other) => {
    const { reused, wheels } = chooseLibraries([cublas, nvrtc, other, nccl, nvjpeg], pinned, 13);
    expect(reused).toEqual([cublas, nvrtc, nccl, nvjpeg]);
    expect(wheels?.titles).toEqual(['cuDNN']);
    expect(wheels?.requirements).toContain('nvidia-cudnn-cu13==');
    expect(wheels?.requirements).not.toContain('cublas');
    expect(wheels?.name).not.toBe(chooseLibraries([], pinned, 13).wheels?.name);
  });

  it('are the ones that a node of an earlier version lacks', () => {
    const { reused, wheels } = chooseLibraries([cublas, cudnn, nccl, nvjpeg], pinned, 13);
    expect(reused).toEqual([cublas, cudnn, nccl, nvjpeg]);
    expect(wheels?.titles).toEqual(['NVRTC']);
    expect(wheels?.folders).toEqual(['lib/nvidia/cu13/lib']);
  });

  it('are taken from the first folder that has a good one', () => {
    const newer = { ...nccl, folder: nodePath('/opt/nccl'), version: [2, 30, 4] };
    const { reused } = chooseLibraries([{ ...nccl, version: [2, 19, 3] }, newer, nccl], pinned, 13);
    expect(reused).toEqual([newer]);
  });

  it.each(cudaReleases)('of CUDA %s are those that libtrainer_cuda.so is built with', (release) => {
    const onNode = read('native/runtime', release);
    const build = read('scripts/requirements', release);
    for (const name of Object.keys(nvidiaLibraries[release])) {
      const lines = new RegExp(`^${name}==.*\\n.*sha256.*$`, 'm');
      expect(lines.exec(onNode)?.[0]).toBe(lines.exec(build)?.[0]);
    }
    expect(Object.keys(nvidiaLibraries[release])).toEqual(
      [...onNode.matchAll(/^(\S+)==/gm)].map(([, name]) => name),
    );
  });
});

describe("NVIDIA's libraries for CUDA 12", () => {
  const cudnn12 = found('nvidia-cudnn-cu12', '/opt/cudnn', [9, 10, 2], 12);

  it('are all brought where none is there, by the folders of their wheels', () => {
    const { reused, wheels } = chooseLibraries([], pinned12, 12);
    expect(reused).toEqual([]);
    expect(wheels?.titles).toEqual(['cuBLAS', 'NVRTC', 'cuDNN', 'NCCL', 'nvJPEG']);
    expect(wheels?.folders).toEqual(
      ['cublas', 'cuda_nvrtc', 'cudnn', 'nccl', 'nvjpeg'].map((name) => `lib/nvidia/${name}/lib`),
    );
    expect(wheels?.requirements).toContain('nvidia-cudnn-cu12==9.10.2.21');
  });

  it.each([
    ['the last cuDNN with Volta', cudnn12, true],
    ['a cuDNN without Volta', { ...cudnn12, version: [9, 11, 0] }, false],
    ['a cuDNN for CUDA 13', { ...cudnn12, cuda: 13 }, false],
    ['an older cuDNN', { ...cudnn12, version: [9, 10, 1] }, false],
  ])('%s is taken: %#', (_, cudnn, taken) => {
    expect(chooseLibraries([cudnn], pinned12, 12).reused).toEqual(taken ? [cudnn] : []);
  });
});
