// Where the native programs and what goes with them come from: beside the bundle, or a build of
// this repository.
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemCode, UserError } from '../base/errors.js';
import { cudaReleases, type CudaRelease } from './cudaBuild.js';

/** The Python files that fetch data and put them elsewhere, without `.py`. */
export const fetchParts = ['common', 'download', 'part', 'places', 'upload'];

/** Those that fill a folder from an address, in the order in which they need each other. */
const folderParts = ['common', 'part', 'places', 'download', 'folder'];

/** Below a node folder, whichever build it is. */
export const cudaLibraryName = 'cuda/libtrainer_cuda.so';

/** The Python files of what a batch script of Slurm becomes, without `.py`. */
export const slurmParts = ['slurm_job', 'slurm_nodes', 'slurm_stage', 'slurm_tools'];
/** The one of them that is started, below a node folder. */
export const slurmJobName = 'share/slurm/slurm_job.py';

/** Beside `bin`, where the builds come from. */
const cudaBuildNames: Readonly<Record<CudaRelease, string>> = {
  13: cudaLibraryName,
  12: 'cuda12/libtrainer_cuda.so',
};

const mpiexecControlName = 'bin/mpiexec_control.so';

/** Absolute paths of what a node needs. */
export interface NativeSources {
  agent: string;
  trainer: string;
  /** What keeps mpiexec from opening a port; the agent looks for it beside itself. */
  mpiexecControl: string;
  tensorboardServer: string;
  /** What sends messages about runs; the agent looks for it beside its folder. */
  notify: string;
  /** Folder of the parts of a job of Slurm's. */
  slurm: string;
  /** Folder of the downloader's parts. */
  fetch: string;
  requirements: string;
  /**
   * By its CUDA, libtrainer_cuda.so, which a build need not have, and the pinned libraries of
   * NVIDIA.
   */
  cuda: Readonly<Record<CudaRelease, { library: string; requirements: string }>>;
  /** Folder of the set-up program's parts. */
  bootstrap: string;
}

/** What stands beside the binaries on a node, by its names there. */
export function scriptsOf(sources: NativeSources): { name: string; path: string }[] {
  return [
    { name: mpiexecControlName, path: sources.mpiexecControl },
    { name: 'share/tensorboard_server.py', path: sources.tensorboardServer },
    { name: 'share/notify.py', path: sources.notify },
    ...slurmParts.map((part) => ({
      name: `share/slurm/${part}.py`,
      path: join(sources.slurm, `${part}.py`),
    })),
    { name: 'share/slurm/driver.py', path: join(sources.bootstrap, 'driver.py') },
    ...fetchParts.map((part) => ({
      name: `share/fetch/${part}.py`,
      path: join(sources.fetch, `${part}.py`),
    })),
  ];
}

/** Name and text of what fills a folder from an address, in the order in which it is loaded. */
export const readFolderPrograms = ({ fetch }: NativeSources): Promise<[string, string][]> =>
  Promise.all(
    folderParts.map(async (part): Promise<[string, string]> => {
      return [part, await readFile(join(fetch, `${part}.py`), 'utf8')];
    }),
  );

/** Those of the CUDA back end that this build has. */
export async function cudaReleasesOf({ cuda }: NativeSources): Promise<CudaRelease[]> {
  const there = await Promise.all(
    cudaReleases.map(async (release) =>
      stat(cuda[release].library).then(
        () => [release],
        (error: unknown) => {
          if (systemCode(error) === 'ENOENT') return [];
          throw error;
        },
      ),
    ),
  );
  return there.flat();
}

/** Undefined where this build has none. */
export async function readCudaLibrary(
  { cuda }: NativeSources,
  release: CudaRelease,
): Promise<Buffer | undefined> {
  try {
    return await readFile(cuda[release].library);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const cudaSources = (beside: string, pinned: string): NativeSources['cuda'] => ({
  13: { library: join(beside, cudaBuildNames[13]), requirements: join(pinned, 'cuda.txt') },
  12: { library: join(beside, cudaBuildNames[12]), requirements: join(pinned, 'cuda12.txt') },
});

/** As an installed extension has them: `bin/` and `share/` beside the bundle. */
function packaged(bundleDir: string): NativeSources {
  return {
    agent: join(bundleDir, 'bin', 'agent'),
    trainer: join(bundleDir, 'bin', 'trainer'),
    mpiexecControl: join(bundleDir, mpiexecControlName),
    tensorboardServer: join(bundleDir, 'share', 'tensorboard_server.py'),
    notify: join(bundleDir, 'share', 'notify.py'),
    slurm: join(bundleDir, 'share', 'slurm'),
    fetch: join(bundleDir, 'share', 'fetch'),
    requirements: join(bundleDir, 'share', 'requirements.txt'),
    cuda: cudaSources(bundleDir, join(bundleDir, 'share')),
    bootstrap: join(bundleDir, 'share', 'node'),
  };
}

/** As a working copy has them after `npm run build`; `bin` may point elsewhere for tests. */
function built(root: string, bin: string): NativeSources {
  return {
    agent: join(bin, 'agent'),
    trainer: join(bin, 'trainer'),
    mpiexecControl: join(bin, 'mpiexec_control.so'),
    tensorboardServer: join(root, 'native', 'agent', 'tensorboard', 'tensorboard_server.py'),
    notify: join(root, 'native', 'agent', 'notify', 'notify.py'),
    slurm: join(root, 'native', 'agent', 'slurm'),
    fetch: join(root, 'native', 'trainer', 'data', 'fetch'),
    requirements: join(root, 'native', 'runtime', 'requirements.txt'),
    cuda: cudaSources(join(bin, '..'), join(root, 'native', 'runtime')),
    bootstrap: join(root, 'native', 'node'),
  };
}

/**
 * `$TRAINYARD_NATIVE` (a folder with agent, trainer and mpiexec_control.so) first, then what stands
 * beside the bundle, then the release build. UserError (preflight) naming what is missing.
 */
export async function findNativeSources(
  bundleDir: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<NativeSources> {
  const root = resolve(bundleDir, '..');
  const chosen = env['TRAINYARD_NATIVE'];
  const candidates =
    chosen === undefined || chosen === ''
      ? [packaged(bundleDir), built(root, join(root, 'build', 'native', 'release', 'node', 'bin'))]
      : [built(root, resolve(chosen))];
  let missing = '';
  for (const sources of candidates) {
    const absent = await firstMissing(sources);
    if (absent === undefined) return sources;
    missing ||= absent;
  }
  const checkout = await isThere(join(root, 'native', 'CMakeLists.txt'));
  throw new UserError('preflight', `${missing} is missing`, { kind: 'reinstall', checkout });
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

async function firstMissing(sources: NativeSources): Promise<string | undefined> {
  const wanted: [string, number][] = [
    [sources.agent, constants.X_OK],
    [sources.trainer, constants.X_OK],
    [sources.mpiexecControl, constants.R_OK],
    [sources.tensorboardServer, constants.R_OK],
    [sources.notify, constants.R_OK],
    [sources.slurm, constants.R_OK],
    [sources.fetch, constants.R_OK],
    [sources.requirements, constants.R_OK],
    [sources.cuda[13].requirements, constants.R_OK],
    [sources.cuda[12].requirements, constants.R_OK],
    [sources.bootstrap, constants.R_OK],
  ];
  for (const [path, mode] of wanted) {
    try {
      await access(path, mode);
    } catch {
      return path;
    }
  }
  return undefined;
}
