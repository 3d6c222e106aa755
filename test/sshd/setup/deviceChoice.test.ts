// What a training computes on where nobody says it. The GPUs are those of a stand-in for NVIDIA's
// libnvidia-ml.so.1, which the native tests build; the driver is a line in the node's own /proc,
// and NCCL a library of one function. The CUDA back end, cuBLAS, NVRTC, cuDNN and nvJPEG are the
// real ones, and they find no GPU.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import type { DeviceChoice } from '../../../src/core/contracts/runSchema.js';
import type { Host, Profile } from '../../../src/core/contracts/profileSchema.js';
import { usedDevice } from '../../../src/core/plan/request/recordedRun.js';
import { requestOf } from '../../../src/core/plan/request/request.js';
import { readPayload } from '../../../src/core/setup/payload.js';
import { cacheFolder } from '../../../src/core/setup/runtime.js';
import { findNativeSources } from '../../../src/core/setup/sources.js';
import { training, untilOver } from '../../cluster/support/runs.js';
import { bundleDir, root } from '../support/cluster.js';
import { known, ScriptedPrompter, World } from '../support/hosts.js';

const toolkit = join(root, 'build', 'cuda');
const native = join(root, 'build', 'native', 'release');
const standIn = join(native, 'tests', 'agent', 'nvml');
const env = { ...process.env, TRAINYARD_NATIVE: join(native, 'node', 'bin') };
const possible =
  existsSync(join(standIn, 'libnvidia-ml.so.1')) &&
  existsSync(join(native, 'node', 'cuda', 'libtrainer_cuda.so')) &&
  existsSync(join(toolkit, 'cudnn/lib/libcudnn.so.9')) &&
  existsSync(join(toolkit, 'cu13/lib/libnvrtc.so.13')) &&
  existsSync('/proc/driver') &&
  !existsSync('/dev/nvidiactl') &&
  userInfo().uid === 0;

/** A node whose /proc tells of that driver. */
function claiming(driver: string): string[] {
  const claims = [
    'mount -t tmpfs none /proc/driver',
    'mkdir /proc/driver/nvidia',
    `echo 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  ${driver}  Release Build' > /proc/driver/nvidia/version`,
    'exec "$@"',
  ];
  return ['unshare', '--mount', 'sh', '-c', claims.join(' && '), 'sh'];
}

describe.skipIf(!possible)('a training that does not say its device', () => {
  const world = new World();
  const script = join(world.dir, 'nvml');
  const nccl = join(world.dir, 'nccl');
  const machines: SshMachine[] = [];
  let newDriver: Host;
  let oldDriver: Host;
  let withoutGpus: Host;

  beforeAll(async () => {
    writeFileSync(script, 'gpus 2\n');
    mkdirSync(nccl);
    execFileSync('cc', ['-shared', '-x', 'c', '-', '-o', join(nccl, 'libnccl.so.2')], {
      input: 'int ncclGetVersion(int *version) { *version = 22807; return 0; }',
    });
    const folders = [join(toolkit, 'cu13/lib'), join(toolkit, 'cudnn/lib'), nccl];
    const environment = {
      LD_LIBRARY_PATH: standIn,
      NVML_STAND_IN: script,
      TRAINYARD_GPU_LOCKS: join(world.dir, 'locks'),
      TRAINYARD_NVIDIA_LIBRARIES: folders.join(':'),
    };
    const servers = [
      await world.serve('127.0.0.2', { prefix: claiming('580.65.06'), environment }),
      await world.serve('127.0.0.3', { prefix: claiming('470.256.02'), environment }),
      await world.serve('127.0.0.4', {}),
    ];
    world.know(...servers.map(known));
    const { runtime } = await readPayload(await findNativeSources(bundleDir, env));
    const hosts = servers.map(({ address, port }): Host => {
      const made = join(cacheFolder(), 'runtime', runtime);
      const workdir = join(world.dir, `${address}-${port}`, 'home', '.trainyard');
      mkdirSync(join(workdir, 'runtime'), { recursive: true, mode: 0o700 });
      if (existsSync(made)) symlinkSync(made, join(workdir, 'runtime', runtime));
      return { host: address, port, identityFile: world.key, slots: 1 };
    });
    const none: Host = { host: '' };
    [newDriver = none, oldDriver = none, withoutGpus = none] = hosts;
  }, 120_000);
  afterAll(async () => {
    for (const machine of machines) machine.dispose();
    await world.remove();
  });

  function machineOf(...hosts: Host[]): { machine: SshMachine; profile: Profile } {
    const profile: Profile = { name: 'lab', kind: 'ssh', hosts };
    const prompter = new ScriptedPrompter();
    const transport = world.transport(prompter);
    const questions = new Questions(prompter);
    const machine = new SshMachine({ profile, transport, questions, bundleDir, env });
    machines.push(machine);
    return { machine, profile };
  }

  /** Trains for two steps, and tells what the record says and what the trainer took. */
  async function trained(
    { machine, profile }: ReturnType<typeof machineOf>,
    more: { words?: string[]; runDir?: string } = {},
  ): Promise<DeviceChoice | undefined> {
    const { words = [], ...rest } = more;
    const request = requestOf({ profile, words: training(2, ...words), cwd: '/', ...rest });
    const { dir, device } = await machine.start(request);
    const { run, state } = await untilOver(machine, dir);
    expect(state).toMatchObject({ phase: 'finished' });
    expect(run?.argv.slice(-2)).toEqual(['--device', device]);
    expect(run && usedDevice(run)).toBe(device);
    return run?.device;
  }

  it('takes the CPU where the back end finds no GPU that it can use', async () => {
    const choice = await trained(machineOf(newDriver));
    expect(choice).toMatchObject({ asked: 'auto', used: 'cpu' });
    // All libraries were loaded, and CUDA was asked.
    expect(choice?.why).toMatch(/^127\.0\.0\.2: .*(cudaGetDeviceCount|no CUDA device is visible|no GPU)/);
  });

  it('takes the CPU where the driver is too old, which --device cuda does not', async () => {
    const node = machineOf(oldDriver);
    const why = '127.0.0.3: the NVIDIA driver is 470.256.02, and CUDA needs 525 or newer';
    expect(await trained(node)).toEqual({ asked: 'auto', used: 'cpu', why });
    await expect(trained(node, { words: ['--device', 'cuda'] })).rejects.toMatchObject({
      code: 'preflight',
      message: expect.stringContaining('the NVIDIA driver is 470.256.02') as string,
    });
  });

  it('takes the CPU on every node where one of them has no GPU', async () => {
    const mixed = machineOf(newDriver, withoutGpus);
    expect(await trained(mixed)).toEqual({ asked: 'auto', used: 'cpu', why: 'no GPU on 127.0.0.4' });
  });

  it('takes the device of the run that it goes on with', async () => {
    const node = machineOf(withoutGpus);
    const runDir = nodePath(join(world.dir, 'again'));
    expect(await trained(node, { runDir, words: ['--device', 'cpu'] })).toMatchObject({ asked: 'cpu' });
    const why = 'the earlier run in this folder used it';
    expect(await trained(node, { runDir })).toEqual({ asked: 'auto', used: 'cpu', why });
  });
});
