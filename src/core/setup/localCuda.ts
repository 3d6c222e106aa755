// What this machine needs for its GPUs: the build of the CUDA back end that fits, and NVIDIA's
// libraries, found here or installed below our cache folder.
import * as z from 'zod/mini';
import type { CheckResult } from '../base/checks.js';
import type { Logger } from '../base/log.js';
import { pathOfThisNode, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { takenCudaBuild, type CudaBuild, type CudaRelease, type DriverAndGpus } from './cudaBuild.js';
import { checkLibraries } from './cudaCheck.js';
import { openLocalBootstrap } from './localChannel.js';
import { localGpus } from './localGpus.js';
import { provideLibraries, type CudaNeeds } from './nodeCuda.js';
import { ownPip } from './packages.js';
import { readBootstrap, readPinned } from './payload.js';
import { cudaReleasesOf, type NativeSources } from './sources.js';

/** `cache`: the folder below which the libraries are put, in `cuda`. */
export interface LocalCudaOptions {
  sources: NativeSources;
  cache: string;
  logger: Logger;
}

const nothing = z.unknown();

/** The build of the CUDA back end that this machine takes, of those that `sources` have. */
export async function localCudaBuild(sources: NativeSources): Promise<CudaBuild> {
  return (await lookHere(sources)).build;
}

async function lookHere(
  sources: NativeSources,
): Promise<{ node: DriverAndGpus; releases: CudaRelease[]; build: CudaBuild }> {
  const [node, releases] = await Promise.all([localGpus(), cudaReleasesOf(sources)]);
  return { node, releases, build: takenCudaBuild(node, (release) => releases.includes(release)) };
}

/**
 * Absolute folders for TRAINYARD_NVIDIA_LIBRARIES; undefined where no build of the CUDA back end
 * fits. What is missing is installed once by the pip of the runtime at `runtimeDir`. UserError
 * (preflight), Cancelled.
 */
export async function provideLocalLibraries(
  options: LocalCudaOptions,
  runtimeDir: NodePath,
  progress: Progress,
): Promise<NodePath[] | undefined> {
  const { logger } = options;
  return withNeeds(options, progress.signal, ({ bootstrap, payload, probe }) => {
    const installPackages: CudaNeeds['installPackages'] = (installation) =>
      ownPip.install({ bootstrap }, installation, nothing, progress);
    const needs = { bootstrap, payload, probe: { ...probe, runtimeDir }, installPackages, logger };
    return provideLibraries(needs, progress);
  });
}

/** The row of NVIDIA's libraries; empty where no build of the CUDA back end fits. UserError. */
export async function checkLocalLibraries(options: LocalCudaOptions): Promise<CheckResult[]> {
  const rows = await withNeeds(options, undefined, ({ bootstrap, payload, probe }) =>
    checkLibraries(bootstrap, probe, payload),
  );
  return rows ?? [];
}

type Needs = Pick<CudaNeeds, 'bootstrap' | 'payload' | 'probe'>;

/** Undefined where no build of the CUDA back end fits. */
async function withNeeds<T>(
  { sources, cache }: LocalCudaOptions,
  signal: AbortSignal | undefined,
  task: (needs: Needs) => Promise<T>,
): Promise<T | undefined> {
  const { node, releases, build } = await lookHere(sources);
  if (build.release === undefined) return undefined;
  const cuda = await Promise.all(releases.map((release) => readPinned(sources, release)));
  const probe = { ...node, workdir: pathOfThisNode(cache) };
  const bootstrap = await openLocalBootstrap(await readBootstrap(sources), signal);
  try {
    return await task({ bootstrap, payload: { cuda }, probe });
  } finally {
    bootstrap.dispose();
  }
}
