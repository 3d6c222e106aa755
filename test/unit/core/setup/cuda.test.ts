// Which nodes get the CUDA back end, and which of NVIDIA's libraries they are given.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import {
  chooseLibraries,
  nvidiaLibraries,
  takesCuda,
  type FoundLibrary,
} from '../../../../src/core/setup/cuda.js';
import type { Payload, PayloadFile } from '../../../../src/core/setup/payload.js';
import { filesFor, withOwnFolder, type Probe } from '../../../../src/core/setup/probe.js';
import { requirementsFor } from '../../../../src/core/setup/wheels.js';

const repository = join(import.meta.dirname, '../../../..');
const pinned = readFileSync(join(repository, 'native/runtime/cuda.txt'), 'utf8');

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
  cudaNodeDir: nodePath('/w/node/cuda'),
  hasCudaNode: false,
};
const file = (name: string): PayloadFile => ({
  name,
  bytes: Buffer.alloc(0),
  sha256: name,
  executable: true,
});
const payload: Payload = {
  files: [file('bin/agent'), file('bin/trainer')],
  node: 'plain',
  requirements: '',
  pip: '',
  runtime: '',
  hashes: { agent: '', trainer: '', requirements: '' },
  cuda: { library: file('cuda/libtrainer_cuda.so'), node: 'cuda', requirements: pinned },
  bootstrap: '',
};

describe('a node', () => {
  // Drivers as the first line of /proc/driver/nvidia/version names them.
  it.each([
    ['580.65.06', true],
    ['595.10', true],
    ['1000.1', true],
    ['575.64.03', false],
    ['470.256.02', false],
    ['', false],
    [null, false],
  ])('with driver %s: %s', (driver, expected) => {
    const here = { ...probe, driver };
    expect(takesCuda(here)).toBe(expected);
    const names = filesFor(here, payload).map(({ name }) => name);
    expect(names).toEqual(['bin/agent', 'bin/trainer', ...(expected ? ['cuda/libtrainer_cuda.so'] : [])]);
    const { nodeDir, hasNode } = withOwnFolder(here, payload);
    expect([nodeDir, hasNode]).toEqual(expected ? ['/w/node/cuda', false] : ['/w/node/plain', true]);
  });

  it('gets what it always got from a build without the CUDA back end', () => {
    const without = { ...payload, cuda: undefined };
    const here = { ...probe, driver: '580.65.06' };
    expect(filesFor(here, without)).toBe(payload.files);
    expect(withOwnFolder(here, without)).toBe(here);
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
    const { reused, wheels } = chooseLibraries([], pinned);
    expect(reused).toEqual([]);
    expect(wheels?.titles).toEqual(['cuBLAS', 'NVRTC', 'cuDNN', 'NCCL', 'nvJPEG']);
    expect(wheels?.folders).toEqual(['lib/nvidia/cu13/lib', 'lib/nvidia/cudnn/lib', 'lib/nvidia/nccl/lib']);
    expect(wheels?.requirements.match(/^nvidia-\S+==\S+ \\\n {4}--hash=sha256:[0-9a-f]{64}$/gm)).toHaveLength(
      5,
    );
    expect(requirementsFor(wheels!.requirements, [3, 9])).toBe(wheels!.requirements);
  });

  it('are not brought where they are of the right versions', () => {
    expect(chooseLibraries([nvjpeg, nccl, cudnn, nvrtc, cublas], pinned)).toEqual({
      reused: [cublas, nvrtc, cudnn, nccl, nvjpeg],
      wheels: undefined,
    });
  });

  it.each([
    ['an older cuDNN', { ...cudnn, version: [9, 13, 0] }],
    ['a cuDNN for CUDA 12', { ...cudnn, cuda: 12 }],
    ['a cuDNN 10', { ...cudnn, version: [10, 0, 0] }],
  ])('are brought one by one: %s is left', (_, other) => {
    const { reused, wheels } = chooseLibraries([cublas, nvrtc, other, nccl, nvjpeg], pinned);
    expect(reused).toEqual([cublas, nvrtc, nccl, nvjpeg]);
    expect(wheels?.titles).toEqual(['cuDNN']);
    expect(wheels?.requirements).toContain('nvidia-cudnn-cu13==');
    expect(wheels?.requirements).not.toContain('cublas');
    expect(wheels?.name).not.toBe(chooseLibraries([], pinned).wheels?.name);
  });

  it('are the ones that a node of an earlier version lacks', () => {
    const { reused, wheels } = chooseLibraries([cublas, cudnn, nccl, nvjpeg], pinned);
    expect(reused).toEqual([cublas, cudnn, nccl, nvjpeg]);
    expect(wheels?.titles).toEqual(['NVRTC']);
    expect(wheels?.folders).toEqual(['lib/nvidia/cu13/lib']);
  });

  it('are taken from the first folder that has a good one', () => {
    const newer = { ...nccl, folder: nodePath('/opt/nccl'), version: [2, 30, 4] };
    const { reused } = chooseLibraries([{ ...nccl, version: [2, 19, 3] }, newer, nccl], pinned);
    expect(reused).toEqual([newer]);
  });

  it('are those that libtrainer_cuda.so is built with, with the same hashes', () => {
    const build = readFileSync(join(repository, 'scripts/requirements/cuda.txt'), 'utf8');
    for (const name of Object.keys(nvidiaLibraries)) {
      const lines = new RegExp(`^${name}==.*\\n.*sha256.*$`, 'm');
      expect(lines.exec(pinned)?.[0]).toBe(lines.exec(build)?.[0]);
    }
    expect(Object.keys(nvidiaLibraries)).toEqual([...pinned.matchAll(/^(\S+)==/gm)].map(([, name]) => name));
  });
});
