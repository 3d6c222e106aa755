// The local runtime of docs/contracts/nodes.md: the Python environment, and the node folder whose
// trainer finds its libraries.
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemCode } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { chooseCudaBuild } from './cudaBuild.js';
import { localGpus } from './localGpus.js';
import { ensurePythonRuntime, hasPythonRuntime, type RuntimeOptions } from './pythonRuntime.js';
import { cudaLibraryName, readCudaLibrary, scriptsOf, type NativeSources } from './sources.js';
import { join as joinOnNode, pathOfThisNode, type NodePath } from '../base/nodePath.js';

/** Where a node's programs are, as absolute paths there. */
export interface NodeRuntime {
  runtimeDir: NodePath;
  nodeDir: NodePath;
  agent: NodePath;
  trainer: NodePath;
  mpiexec: NodePath;
  python: NodePath;
  tensorboardServer: NodePath;
  /** Folders of NVIDIA's libraries, where a run on a node wants its GPU. */
  nvidia?: readonly string[];
  /** SHA-256 in hex. */
  hashes: { agent: string; trainer: string; requirements: string };
}

/**
 * `$XDG_CACHE_HOME/trainyard`, else `~/.cache/trainyard`; on Windows `%LOCALAPPDATA%\trainyard`.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  const base = env[platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME'];
  const usual = platform === 'win32' ? ['AppData', 'Local'] : ['.cache'];
  return join(base !== undefined && isAbsolute(base) ? base : join(homedir(), ...usual), 'trainyard');
}

/**
 * Makes or finds both folders under `cache`. Safe for concurrent callers. UserError (preflight),
 * Cancelled.
 */
export async function ensureLocalRuntime(
  sources: NativeSources,
  cache: string,
  options: Omit<RuntimeOptions, 'root' | 'requirements'> = {},
): Promise<NodeRuntime> {
  const { dir, requirementsHash } = await ensurePythonRuntime({
    ...options,
    root: join(cache, 'runtime'),
    requirements: sources.requirements,
  });
  const [agent, trainer] = await Promise.all([sha256File(sources.agent), sha256File(sources.trainer)]);
  const nodeDir = await ensureNodeFolder(
    sources,
    `${agent}${trainer}`,
    join(cache, 'node'),
    join(dir, 'lib'),
  );
  return {
    ...programsOf(pathOfThisNode(nodeDir), pathOfThisNode(dir)),
    hashes: { agent, trainer, requirements: requirementsHash },
  };
}

/** Whether `ensureLocalRuntime` has nothing to fetch. */
export const hasLocalRuntime = (sources: NativeSources, cache: string): Promise<boolean> =>
  hasPythonRuntime({ root: join(cache, 'runtime'), requirements: sources.requirements });

/** Where everything is, below the two folders of a node. */
export function programsOf(nodeDir: NodePath, runtimeDir: NodePath): Omit<NodeRuntime, 'nvidia' | 'hashes'> {
  return {
    runtimeDir,
    nodeDir,
    agent: joinOnNode(nodeDir, 'bin', 'agent'),
    trainer: joinOnNode(nodeDir, 'bin', 'trainer'),
    mpiexec: joinOnNode(runtimeDir, 'bin', 'mpiexec'),
    python: joinOnNode(runtimeDir, 'bin', 'python'),
    tensorboardServer: joinOnNode(nodeDir, 'share', 'tensorboard_server.py'),
  };
}

/**
 * The folder is named after the binaries; what else is in it is brought up to date in place, each
 * file in one step.
 */
async function ensureNodeFolder(
  sources: NativeSources,
  identity: string,
  root: string,
  lib: string,
): Promise<string> {
  const name = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  const dir = join(root, name);
  await mkdir(root, { recursive: true, mode: 0o700 });
  if (await isWhole(sources, dir)) {
    await refresh(sources, dir, lib);
    return dir;
  }
  const temporary = join(root, `.${name}.partial-${randomBytes(4).toString('hex')}`);
  try {
    await mkdir(join(temporary, 'bin'), { recursive: true, mode: 0o700 });
    for (const program of ['agent', 'trainer'] as const) {
      await copyFile(sources[program], join(temporary, 'bin', program));
      await chmod(join(temporary, 'bin', program), 0o755);
    }
    await refresh(sources, temporary, lib);
    if (!(await isWhole(sources, dir))) await discard(dir);
    await rename(temporary, dir);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error; // otherwise another process made the same
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return dir;
}

/** Its programs are as long as ours, whose content its name stands for. */
async function isWhole(sources: NativeSources, dir: string): Promise<boolean> {
  const sizes = (['agent', 'trainer'] as const).map(async (program) => {
    const [present, own] = await Promise.all([stat(join(dir, 'bin', program)), stat(sources[program])]);
    return present.size === own.size;
  });
  try {
    return (await Promise.all([...sizes, readlink(join(dir, 'lib'))])).every((good) => good !== false);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'EINVAL') return false;
    throw error;
  }
}

/** Out of the way in one step, then removed. */
async function discard(dir: string): Promise<void> {
  const aside = `${dir}.unusable-${randomBytes(4).toString('hex')}`;
  try {
    await rename(dir, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return; // there is none
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
}

async function refresh(sources: NativeSources, dir: string, lib: string): Promise<void> {
  const link = join(dir, 'lib');
  if ((await readlink(link).catch(() => undefined)) !== lib) {
    const temporary = `${link}.${randomBytes(4).toString('hex')}`;
    await symlink(lib, temporary);
    await rename(temporary, link);
  }
  for (const { name, path } of scriptsOf(sources)) await refreshFile(join(dir, name), await readFile(path));
  // Without a driver the CUDA 13 build is what says so.
  const { release = 13 } = chooseCudaBuild(await localGpus());
  const cuda = await readCudaLibrary(sources, release);
  if (cuda) await refreshFile(join(dir, cudaLibraryName), cuda);
}

async function refreshFile(target: string, wanted: Buffer): Promise<void> {
  const present = await readFile(target).catch(() => undefined);
  if (present?.equals(wanted) === true) return;
  await mkdir(dirname(target), { recursive: true });
  await writeFileAtomic(target, wanted, 0o755);
}

async function sha256File(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
