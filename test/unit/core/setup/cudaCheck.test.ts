// The row of NVIDIA's libraries, asked of the real set-up program: here the only one is an NCCL of one
// function.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { chooseLibraries } from '../../../../src/core/setup/cuda.js';
import { checkLibraries } from '../../../../src/core/setup/cudaCheck.js';
import { openLocalBootstrap } from '../../../../src/core/setup/localChannel.js';
import { readBootstrap, type Payload } from '../../../../src/core/setup/payload.js';
import type { Probe } from '../../../../src/core/setup/probe.js';

const root = join(import.meta.dirname, '../../../..');
const dir = mkdtempSync(join(tmpdir(), 'trainyard-libraries-'));
const requirements = readFileSync(join(root, 'native/runtime/cuda.txt'), 'utf8');
const cuda = [{ release: 13, requirements }] as unknown as Payload['cuda'];
const probe = { driver: '580.65.06', gpus: [], workdir: nodePath(dir) } as unknown as Probe;
const before = process.env['TRAINYARD_NVIDIA_LIBRARIES'];
const hasCompiler = spawnSync('cc', ['--version']).status === 0;

const look = async (own: Probe = probe): Promise<string[]> => {
  const text = await readBootstrap({ bootstrap: join(root, 'native/node') });
  const channel = await openLocalBootstrap(text);
  try {
    const results = await checkLibraries(channel, own, { cuda });
    return results.map(({ ok, warning, detail }) => `${ok && !warning ? 'good' : 'warns'}: ${detail}`);
  } finally {
    channel.dispose();
  }
};

beforeAll(() => {
  mkdirSync(join(dir, 'nccl'), { mode: 0o700 });
  if (hasCompiler) {
    spawnSync('cc', ['-shared', '-x', 'c', '-', '-o', join(dir, 'nccl/libnccl.so.2')], {
      input: 'int ncclGetVersion(int *version) { *version = 22807; return 0; }',
    });
  }
  process.env['TRAINYARD_NVIDIA_LIBRARIES'] = join(dir, 'nccl');
});
afterAll(() => {
  if (before === undefined) delete process.env['TRAINYARD_NVIDIA_LIBRARIES'];
  else process.env['TRAINYARD_NVIDIA_LIBRARIES'] = before;
  rmSync(dir, { recursive: true, force: true });
});

it('is not there on a node without a driver', async () => {
  expect(await look({ ...probe, driver: null })).toEqual([]);
});

it.skipIf(!hasCompiler)('names what was loaded, and what the first run installs', async () => {
  expect(await look()).toEqual([
    'good: NCCL 2.28.7; cuBLAS, NVRTC, cuDNN, nvJPEG are installed by the first run on GPUs (up to 2.6 GB)',
  ]);
});

it.skipIf(!hasCompiler)('warns of installed libraries that cannot be loaded', async () => {
  const nccl = { package: 'nvidia-nccl-cu13', folder: nodePath('/'), version: [2, 28, 7], cuda: 13 };
  const { wheels } = chooseLibraries([nccl], requirements, 13);
  const made = join(dir, 'cuda', wheels?.name ?? '');
  const lib = join(made, 'lib/nvidia/cudnn/lib');
  mkdirSync(lib, { recursive: true, mode: 0o700 });
  writeFileSync(join(lib, 'libcudnn.so.9'), 'cut short');
  expect(await look()).toEqual([`warns: cuBLAS, NVRTC, cuDNN, nvJPEG in ${made} cannot be loaded`]);
});
