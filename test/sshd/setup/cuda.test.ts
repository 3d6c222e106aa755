// A node that says it has NVIDIA's driver, and one that does not: who gets the CUDA back end, and
// where NVIDIA's libraries come from. The driver is a line in the node's own /proc, and NCCL a
// library of one function; cuBLAS, NVRTC, cuDNN, nvJPEG and libtrainer_cuda.so are the real ones.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { Packages } from '../../../src/core/setup/packages.js';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { SshNode } from '../../../src/core/cluster/nodes/sshNode.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { chooseLibraries, type FoundLibrary } from '../../../src/core/setup/cuda.js';
import { readPayload, type Payload } from '../../../src/core/setup/payload.js';
import { cacheFolder, type NodeRuntime } from '../../../src/core/setup/runtime.js';
import { findNativeSources } from '../../../src/core/setup/sources.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { bundleDir, root } from '../support/cluster.js';
import { makeNccl } from '../../support/fakeNccl.js';
import { program, pythonWords } from '../support/setUpProgram.js';
import { known, ScriptedPrompter, World } from '../support/hosts.js';

const toolkit = join(root, 'build', 'cuda');
// As it was built: the bundle has it only where it was built before the bundle was made.
const native = join(root, 'build', 'native', 'release', 'node');
const library = join(native, 'cuda', 'libtrainer_cuda.so');
const env = { ...process.env, TRAINYARD_NATIVE: join(native, 'bin') };
const driver = 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build';
const claims = [
  'mount -t tmpfs none /proc/driver',
  'mkdir /proc/driver/nvidia',
  `echo '${driver}' > /proc/driver/nvidia/version`,
  'exec "$@"',
].join(' && ');
const prefix = ['unshare', '--mount', 'sh', '-c', claims, 'sh'];
const possible =
  existsSync(library) &&
  existsSync(join(toolkit, 'cudnn/lib/libcudnn.so.9')) &&
  existsSync(join(toolkit, 'cu13/lib/libnvjpeg.so.13')) &&
  existsSync(join(toolkit, 'cu13/lib/libnvrtc.so.13')) &&
  existsSync('/proc/driver') &&
  userInfo().uid === 0;

const toolkit12 = join(root, 'build', 'cuda12');
const library12 = join(native, 'cuda12', 'libtrainer_cuda.so');
const possible12 = existsSync(library12) && existsSync(join(toolkit12, 'cudnn/lib/libcudnn.so.9'));

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** A wheel by the name of NCCL's, with one file. Returns its SHA-256. */
function makeWheel(folder: string): string {
  const path = join(folder, 'nvidia_nccl_cu13-2.28.7-py3-none-any.whl');
  const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    info = "nvidia_nccl_cu13-2.28.7.dist-info/"
    wheel.writestr("nvidia/nccl/lib/libnccl.so.2", "a library")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: nvidia-nccl-cu13\\nVersion: 2.28.7\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;
  mkdirSync(folder, { recursive: true });
  execFileSync('python3', ['-c', script, path]);
  return sha256(path);
}

/** One request to the set-up program, as a node gets it. */
function ask(op: string, params: object, env: Record<string, string> = {}): Record<string, unknown> {
  const { stdout, stderr } = spawnSync('python3', pythonWords(program), {
    input: `${JSON.stringify({ op, params })}\n`,
    env: { ...process.env, ...env },
  });
  const last = stdout.toString().trim().split('\n').at(-1) ?? '';
  if (last === '') throw new Error(stderr.toString());
  return JSON.parse(last) as Record<string, unknown>;
}

/** Why the nodes that see this disk get a build. */
const why = 'the profile asks for it';

const readOwn = async (): Promise<Payload> => readPayload(await findNativeSources(bundleDir, env));

describe.skipIf(!possible)('nodes and CUDA', () => {
  const world = new World();
  const found = join(world.dir, 'found');
  const folders = [join(toolkit, 'cu13/lib'), join(toolkit, 'cudnn/lib'), join(found, 'nccl')];
  let machine: SshMachine;
  let profile: Profile;
  let runtimes: NodeRuntime[];
  let servers: Sshd[];
  let homes: string[];

  /** Its home, where the runtime is the local one, if that was made. */
  function linkedRuntime({ address, port }: Sshd, { runtime }: Payload): string {
    const home = join(world.dir, `${address}-${port}`, 'home');
    const made = join(cacheFolder(), 'runtime', runtime);
    mkdirSync(join(home, '.trainyard', 'runtime'), { recursive: true, mode: 0o700 });
    if (existsSync(made)) symlinkSync(made, join(home, '.trainyard', 'runtime', runtime));
    return home;
  }

  beforeAll(async () => {
    makeNccl(join(found, 'nccl'));
    const payload = await readOwn();
    const environment = { TRAINYARD_NVIDIA_LIBRARIES: folders.join(':') };
    servers = [
      await world.serve('127.0.0.2', { prefix, environment }),
      await world.serve('127.0.0.3', { environment }),
    ];
    world.know(...servers.map(known));
    homes = servers.map((server) => linkedRuntime(server, payload));
    const hosts = servers.map(({ address, port }) => ({ host: address, port, identityFile: world.key }));
    profile = { name: 'cuda', kind: 'ssh', hosts };
    const prompter = new ScriptedPrompter();
    machine = new SshMachine({
      profile,
      transport: world.transport(prompter),
      questions: new Questions(prompter),
      bundleDir,
      env,
    });
    const packages = new Packages({ profile, cache: cacheFolder(), payload: readOwn, logger: nullLogger });
    runtimes = await Promise.all(machine.nodes.map((node) => node.prepare(packages, {}, { cuda: true })));
    packages.dispose();
  }, 120_000);
  afterAll(async () => {
    machine.dispose();
    await world.remove();
  });

  it('with a driver get the CUDA back end beside the trainer, others do not', () => {
    const [gpu, plain] = runtimes.map(({ nodeDir }) => join(nodeDir, 'cuda', 'libtrainer_cuda.so'));
    expect(sha256(gpu!)).toBe(sha256(library));
    expect(existsSync(plain!)).toBe(false);
    expect(runtimes[0]!.nodeDir).not.toBe(runtimes[1]!.nodeDir);
    for (const home of homes) expect(readdirSync(join(home, '.trainyard', 'node'))).toHaveLength(1);
  });

  it('get it without a driver too, where the GPUs of a run are on nodes that see their disk', async () => {
    const packages = new Packages({ profile, cache: cacheFolder(), payload: readOwn, logger: nullLogger });
    const [, plain] = machine.nodes;
    const made = await plain!.prepare(packages, {}, { cuda: true, gpusElsewhere: { release: 13, why } });
    packages.dispose();
    expect(made.nodeDir).toBe(runtimes[0]!.nodeDir.replace(homes[0]!, homes[1]!));
    expect(sha256(join(made.nodeDir, 'cuda', 'libtrainer_cuda.so'))).toBe(sha256(library));
    expect(made.nvidia).toEqual(runtimes[0]!.nvidia);
  });

  it('use the libraries that they have, and fetch none', async () => {
    const real = folders.map((folder) => execFileSync('realpath', [folder], { encoding: 'utf8' }).trim());
    expect(runtimes.map(({ nvidia }) => nvidia)).toEqual([real, undefined]);
    for (const home of homes) expect(existsSync(join(home, '.trainyard', 'cuda'))).toBe(false);
    const [node] = machine.nodes;
    const words = [
      'env',
      `TRAINYARD_NVIDIA_LIBRARIES=${real.join(':')}`,
      runtimes[0]!.trainer,
      'devices',
      '--json',
    ];
    const { code, output } = await node!.tryProgram(words);
    // All were loaded, and CUDA was asked; without a GPU it says so.
    expect(code, output).toBe(0);
    expect(output).toMatch(/cudaGetDeviceCount|no CUDA device is visible|"device":"cuda".*"usable":true/);
  });

  const ours12 = ['cu12', 'cudnn', 'nccl'].map((part) => join(toolkit12, part, 'lib'));

  /** A node with the libraries of both releases, and what prepares it. `dispose` ends both. */
  async function nodeAt(
    address: string,
    prefix: string[] = [],
  ): Promise<{ node: SshNode; packages: Packages; dispose: () => void }> {
    const environment = { TRAINYARD_NVIDIA_LIBRARIES: [...ours12, ...folders].join(':') };
    const server = await world.serve(address, { prefix, environment });
    world.know(...[...servers, server].map(known));
    const payload = await readOwn();
    linkedRuntime(server, payload);
    const host = { host: server.address, port: server.port, identityFile: world.key };
    const prompter = new ScriptedPrompter();
    const node = new SshNode(host, {
      transport: world.transport(prompter),
      questions: new Questions(prompter),
      payload: () => Promise.resolve(payload),
      workdir: nodePath('~/.trainyard'),
    });
    const alone: Profile = { name: 'alone', kind: 'ssh', hosts: [host] };
    const packages = new Packages({
      profile: alone,
      cache: cacheFolder(),
      payload: readOwn,
      logger: nullLogger,
    });
    const dispose = (): void => {
      packages.dispose();
      node.dispose();
    };
    return { node, packages, dispose };
  }

  it.skipIf(!possible12)('get the build that is asked for where other nodes have the GPUs', async () => {
    const { node, packages, dispose } = await nodeAt('127.0.0.6');
    try {
      const made = await node.prepare(packages, {}, { cuda: true, gpusElsewhere: { release: 12, why } });
      expect(sha256(join(made.nodeDir, 'cuda', 'libtrainer_cuda.so'))).toBe(sha256(library12));
      expect(made.nvidia).toHaveLength(ours12.length);
    } finally {
      dispose();
    }
  });

  it.skipIf(!possible12)('with an older driver get the CUDA 12 build, and its libraries', async () => {
    const older = prefix.map((word) => word.replace('580.65.06', '535.104.05'));
    const { node, packages, dispose } = await nodeAt('127.0.0.5', older);
    try {
      const { nvidia, nodeDir, trainer } = await node.prepare(packages, {}, { cuda: true });
      expect(sha256(join(nodeDir, 'cuda', 'libtrainer_cuda.so'))).toBe(sha256(library12));
      expect(nvidia).toEqual(
        ours12.map((folder) => execFileSync('realpath', [folder], { encoding: 'utf8' }).trim()),
      );
      const rows = node.judge(await node.probe(), true);
      expect(rows).toContainEqual(
        expect.objectContaining({
          name: 'driver',
          ok: true,
          detail: "NVIDIA 535.104.05: CUDA 12's build, since driver 535.104.05 is older than 580",
        }),
      );
      expect(node.cudaBuild).toBe(undefined);
      await node.hello();
      expect(node.cudaBuild).toEqual({ release: 12, why: 'driver 535.104.05 is older than 580' });
      const words = ['env', `TRAINYARD_NVIDIA_LIBRARIES=${nvidia!.join(':')}`, trainer, 'devices', '--json'];
      const { code, output } = await node.tryProgram(words);
      expect(code, output).toBe(0);
      expect(output).toMatch(/release 525 or newer|no CUDA device is visible|"device":"cuda".*"usable":true/);
    } finally {
      dispose();
    }
  });

  it('do not take a library that is cut short, or of another version', () => {
    const cut = join(found, 'cut');
    mkdirSync(cut);
    copyFileSync(join(toolkit, 'cudnn/lib/libcudnn.so.9'), join(cut, 'libcudnn.so.9'));
    truncateSync(join(cut, 'libcudnn.so.9'), 20_000);
    // NVRTC without its builtins, and with those of another version.
    const bare = join(found, 'bare');
    const foreign = join(found, 'foreign');
    const nvrtc = join(toolkit, 'cu13/lib/libnvrtc.so.13');
    for (const folder of [bare, foreign]) {
      mkdirSync(folder);
      symlinkSync(nvrtc, join(folder, 'libnvrtc.so.13'));
    }
    const builtins = join(toolkit, 'cu13/lib/libnvrtc-builtins.so.13.0');
    symlinkSync(builtins, join(foreign, 'libnvrtc-builtins.so.13.99'));
    const given = [cut, bare, foreign, ...folders].join(':');
    const answer = ask(
      'cuda-look',
      { release: 13 },
      { TRAINYARD_NVIDIA_LIBRARIES: '', LD_LIBRARY_PATH: given },
    );
    const { found: seen } = answer['result'] as {
      found: { package: string; version: number[]; cuda: number }[];
    };
    const named = seen.map(({ package: name, version, cuda }) => [name, version.join('.'), cuda]);
    expect(named).toContainEqual(['nvidia-cudnn-cu13', '9.19.0', 13]);
    expect(named).toContainEqual(['nvidia-cublas', '13.1.0', 13]);
    expect(named).toContainEqual(['nvidia-nccl-cu13', '2.28.7', 13]);
    expect(named).toContainEqual(['nvidia-nvjpeg', '13.0.1', 13]);
    expect(named).toContainEqual(['nvidia-cuda-nvrtc', '13.0.0', 13]);
    for (const folder of [cut, bare, foreign]) expect(JSON.stringify(seen)).not.toContain(folder);
  });

  it('install what they lack from wheels, whole or not at all', () => {
    const wheels = join(world.dir, 'wheels');
    const hash = makeWheel(wheels);
    const dir = join(homes[0]!, '.trainyard', 'cuda', '0123456789abcdef');
    const request = (sum: string): object => ({
      dir,
      wheels,
      runtime: runtimes[0]!.runtimeDir,
      neededBytes: 1000,
      requirements: `nvidia-nccl-cu13==2.28.7 \\\n    --hash=sha256:${sum}\n`,
    });
    const refused = ask('cuda', request('0'.repeat(64)))['error'];
    expect(JSON.stringify(refused)).toMatch(/NVIDIA's libraries.*pinned/);
    expect(readdirSync(join(dir, '..'))).toEqual([]);
    expect(ask('cuda', { ...request('0'), neededBytes: 1e18 })['error']).toMatchObject({
      what: expect.stringContaining('MB are needed') as string,
    });
    expect(ask('cuda', request(hash))['result']).toEqual({ made: true });
    expect(readFileSync(join(dir, 'lib/nvidia/nccl/lib/libnccl.so.2'), 'utf8')).toBe('a library');
    expect(ask('cuda', request('0'))['result']).toEqual({ made: false });
  });

  it('get what they lack from this machine where their own pip finds nothing', async () => {
    const payload = await readOwn();
    const cache = join(world.dir, 'cache');
    const staged = join(world.dir, 'staged');
    const pinned = payload.cuda[0]!.requirements.replace(
      /(nvidia-nccl-cu13)==.*\n.*/,
      `$1==2.28.7 \\\n    --hash=sha256:${makeWheel(staged)}`,
    );
    const { found: seen } = ask(
      'cuda-look',
      { release: 13 },
      { TRAINYARD_NVIDIA_LIBRARIES: folders.slice(0, 2).join(':') },
    )['result'] as { found: FoundLibrary[] };
    const lacking = chooseLibraries(seen, pinned, 13).wheels!;
    expect(lacking.titles).toEqual(['NCCL']);
    const version = (await machine.nodes[0]!.probe()).python.slice(0, 2).join('.');
    mkdirSync(join(cache, 'wheels'), { recursive: true });
    renameSync(staged, join(cache, 'wheels', `${lacking.name}-${version}`)); // as if fetched before
    const environment = {
      TRAINYARD_NVIDIA_LIBRARIES: folders.slice(0, 2).join(':'),
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
    };
    const server = await world.serve('127.0.0.4', { prefix, environment });
    world.know(...[...servers, server].map(known));
    const home = linkedRuntime(server, payload);
    const host = { host: server.address, port: server.port, identityFile: world.key };
    const alone: Profile = { name: 'alone', kind: 'ssh', hosts: [host] };
    const prompter = new ScriptedPrompter();
    const node = new SshNode(host, {
      transport: world.transport(prompter),
      questions: new Questions(prompter),
      payload: () => Promise.resolve({ ...payload, cuda: [{ ...payload.cuda[0]!, requirements: pinned }] }),
      workdir: nodePath('~/.trainyard'),
    });
    const packages = new Packages({ profile: alone, cache, payload: readOwn, logger: nullLogger });
    try {
      const { nvidia } = await node.prepare(packages, {}, { cuda: true });
      const installed = join(home, '.trainyard', 'cuda', lacking.name, 'lib/nvidia/nccl/lib');
      expect(nvidia).toEqual([installed, ...runtimes[0]!.nvidia!.slice(0, 2)]);
      expect(readFileSync(join(installed, 'libnccl.so.2'), 'utf8')).toBe('a library');
    } finally {
      packages.dispose();
      node.dispose();
    }
  });
});
