// NVIDIA's libraries for trainings on this machine: those that stand here are used, the others are
// installed once. The driver is a line in /proc, the GPUs are those of a stand-in for
// libnvidia-ml.so.1, and NCCL is a library of one function, in a wheel made here. The CUDA back end,
// cuBLAS, NVRTC, cuDNN and nvJPEG are the real ones, and they find no GPU.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFileSchema } from '../../../src/core/contracts/runSchema.js';
import { makeNccl } from '../../support/fakeNccl.js';
import { cli, expectExit, run, runCli, temporaryFolder, type Outcome } from '../../support/harness.js';

const root = join(import.meta.dirname, '../../..');
const toolkit = join(root, 'build', 'cuda');
const native = join(root, 'build', 'native', 'release');
const standIn = join(native, 'tests', 'agent', 'nvml');
const possible =
  existsSync(join(standIn, 'libnvidia-ml.so.1')) &&
  existsSync(join(native, 'node', 'cuda', 'libtrainer_cuda.so')) &&
  existsSync(join(toolkit, 'cudnn/lib/libcudnn.so.9')) &&
  existsSync(join(toolkit, 'cu13/lib/libnvrtc.so.13')) &&
  existsSync('/proc/driver') &&
  !existsSync('/dev/nvidiactl') &&
  userInfo().uid === 0;

const claims = [
  'mount -t tmpfs none /proc/driver',
  'mkdir /proc/driver/nvidia',
  "echo 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build' > /proc/driver/nvidia/version",
  'exec "$@"',
].join(' && ');

describe.skipIf(!possible)("NVIDIA's libraries on this machine", () => {
  const folder = temporaryFolder('cuda-libraries');
  const wheels = join(folder.path, 'wheels');
  const cache = join(folder.path, 'cache', 'trainyard');
  const tree = join(folder.path, 'tree');

  /** The wheel of an NCCL. Returns its SHA-256 in hex. */
  function makeWheel(): string {
    const path = join(wheels, 'nvidia_nccl_cu13-2.28.7-py3-none-any.whl');
    const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    info = "nvidia_nccl_cu13-2.28.7.dist-info/"
    wheel.write(sys.argv[2], "nvidia/nccl/lib/libnccl.so.2")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: nvidia-nccl-cu13\\nVersion: 2.28.7\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;
    mkdirSync(wheels);
    makeNccl(join(folder.path, 'nccl'));
    execFileSync('python3', ['-c', script, path, join(folder.path, 'nccl', 'libnccl.so.2')]);
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  }

  beforeAll(async () => {
    expectExit(await runCli(['runtime']), 0);
    // A checkout whose pinned NCCL is that wheel.
    mkdirSync(join(tree, 'dist'), { recursive: true });
    mkdirSync(join(tree, 'native'));
    copyFileSync(cli, join(tree, 'dist', 'trainyard.cjs'));
    for (const part of ['agent', 'trainer', 'node']) {
      symlinkSync(join(root, 'native', part), join(tree, 'native', part));
    }
    cpSync(join(root, 'native', 'runtime'), join(tree, 'native', 'runtime'), { recursive: true });
    const pinned = join(tree, 'native', 'runtime', 'cuda.txt');
    const lines = readFileSync(pinned, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.startsWith('nvidia-nccl-cu13=='));
    lines.splice(at, 2, 'nvidia-nccl-cu13==2.28.7 \\', `    --hash=sha256:${makeWheel()}`);
    writeFileSync(pinned, lines.join('\n'));
    // The runtime is that of the other tests.
    const made = join(process.env['XDG_CACHE_HOME'] ?? '', 'trainyard', 'runtime');
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    symlinkSync(made, join(cache, 'runtime'));
    writeFileSync(join(folder.path, 'nvml'), 'gpus 1\n');
  });
  afterAll(folder.remove);

  const command = (words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
    run(
      'unshare',
      ['--mount', 'sh', '-c', claims, 'sh', process.execPath, join(tree, 'dist/trainyard.cjs'), ...words],
      {
        env: {
          ...process.env,
          LD_LIBRARY_PATH: standIn,
          NVML_STAND_IN: join(folder.path, 'nvml'),
          TRAINYARD_GPU_LOCKS: join(folder.path, 'locks'),
          TRAINYARD_NATIVE: join(native, 'node', 'bin'),
          TRAINYARD_NVIDIA_LIBRARIES: [join(toolkit, 'cu13/lib'), join(toolkit, 'cudnn/lib')].join(':'),
          XDG_CACHE_HOME: join(folder.path, 'cache'),
          PIP_NO_INDEX: '1',
          PIP_FIND_LINKS: wheels,
          ...env,
        },
      },
    );
  const training = ['train', '--model', 'mlp', '--data', 'synthetic', '--steps', '2', '--batch-size', '4'];
  const train = (name: string, words: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
    command(
      ['run', 'local', '--ranks', '1', '--run-dir', join(folder.path, name), '--', ...training, ...words],
      env,
    );
  const whyOf = (name: string): string =>
    runFileSchema.parse(JSON.parse(readFileSync(join(folder.path, name, 'run.json'), 'utf8'))).device?.why ??
    '';
  /** What a trainer says that has loaded all libraries, and asked CUDA. */
  const loaded = /cudaGetDeviceCount|no CUDA device is visible/;

  const none = { PIP_FIND_LINKS: join(folder.path, 'nothing') };

  it('that cannot be installed end a start, but for one on the CPU', async () => {
    for (const words of [[], ['--device', 'cuda']]) {
      const refused = await train('refused', words, none);
      expectExit(refused, 4);
      expect(refused.stderr).toMatch(
        /NVIDIA's libraries.*nvidia-nccl-cu13.* Use --device cpu, or look at the network/s,
      );
      expect(existsSync(join(folder.path, 'refused'))).toBe(false);
    }
    expectExit(await train('plain', ['--device', 'cpu'], none), 0);
    expect(readdirSync(join(cache, 'cuda'))).toEqual([]);
  });

  it('that cannot be installed are done without where the trainer computes without them', async () => {
    const bin = join(folder.path, 'bin');
    cpSync(join(native, 'node', 'bin'), bin, { recursive: true });
    // No GPU is here: it says that there is one.
    const says = '{"device":"cuda","index":0,"usable":true}';
    const real = join(native, 'node', 'bin', 'trainer');
    const script = `#!/bin/sh\nif [ "$1" = devices ]; then echo '${says}'; else exec ${real} "$@"; fi\n`;
    writeFileSync(join(bin, 'trainer'), script);
    mkdirSync(join(folder.path, 'cuda'));
    copyFileSync(
      join(native, 'node', 'cuda', 'libtrainer_cuda.so'),
      join(folder.path, 'cuda', 'libtrainer_cuda.so'),
    );
    await train('without', [], { ...none, TRAINYARD_NATIVE: bin });
    expect(whyOf('without')).toMatch(/^free GPUs: 1 on /);
  });

  it('are installed once where they lack, beside those that stand here', async () => {
    const before = await command(['check', 'local']);
    expect(before.stdout).toMatch(/NCCL (?:is|are) installed by the first run on GPUs/);
    const first = await train('first');
    expectExit(first, 0);
    expect(whyOf('first')).toMatch(loaded);
    const [name = ''] = readdirSync(join(cache, 'cuda'));
    expect(existsSync(join(cache, 'cuda', name, 'lib/nvidia/nccl/lib/libnccl.so.2'))).toBe(true);
    rmSync(wheels, { recursive: true });
    expectExit(await train('second'), 0);
    expect(whyOf('second')).toMatch(loaded);
    expect((await command(['check', 'local'])).stdout).toMatch(/cuBLAS 13\.\S+, .*NCCL 2\.28\.7/);
  });

  it('are given to the ranks of a training that asks for CUDA', async () => {
    const asked = await train('asked', ['--device', 'cuda']);
    expectExit(asked, 5);
    const { env } = runFileSchema.parse(
      JSON.parse(readFileSync(join(folder.path, 'asked', 'run.json'), 'utf8')),
    );
    expect(env['TRAINYARD_NVIDIA_LIBRARIES']).toMatch(/cache\/trainyard\/cuda\/\w+\/lib\/nvidia\/nccl\/lib/);
    expect(asked.stdout + asked.stderr).toMatch(loaded);
  });
});
