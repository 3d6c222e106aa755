// NVIDIA's libraries on a node that has a GPU: found there, or brought to it.
import type { Logger } from '../base/log.js';
import type { Progress } from '../base/progress.js';
import { UserError } from '../base/errors.js';
import { join, type NodePath } from '../base/nodePath.js';
import { NodeRefusal, type Bootstrap } from './bootstrap.js';
import { chooseLibraries, foundSchema } from './cuda.js';
import {
  chooseCudaBuild,
  lackingBuild,
  takenCudaBuild,
  type CudaBuild,
  type CudaElsewhere,
  type DriverAndGpus,
} from './cudaBuild.js';
import { cudaOf } from './probe.js';
import type { Payload, PinnedLibraries } from './payload.js';
import type { Probe } from './probe.js';
import type { Installation } from './packages.js';

/** What the search for NVIDIA's libraries on one node works with. */
export interface CudaNeeds {
  bootstrap: Bootstrap;
  /** The libraries are put below `workdir`. */
  probe: DriverAndGpus & Pick<Probe, 'workdir' | 'runtimeDir'>;
  payload: { cuda: readonly PinnedLibraries[] };
  /** On this node. */
  installPackages: (installation: Installation) => Promise<unknown>;
  logger?: Logger | undefined;
}

/**
 * Absolute folders for TRAINYARD_NVIDIA_LIBRARIES. UserError (preflight, connection), Cancelled.
 */
export async function provideLibraries(needs: CudaNeeds, progress: Progress): Promise<NodePath[]> {
  const { bootstrap, probe, payload, installPackages, logger } = needs;
  const { release, why } = chooseCudaBuild(probe);
  const build = cudaOf(probe, payload);
  if (build === undefined) throw withoutCuda(release && lackingBuild(release, why));
  logger?.log('info', `the CUDA ${build.release} build is used: ${why}`);
  progress.onProgress?.("looking for NVIDIA's libraries");
  const { found, left } = await bootstrap.request(
    'cuda-look',
    { release: build.release },
    foundSchema,
    progress,
  );
  for (const { package: name, why } of left) {
    logger?.log('warn', `${name} of this node is not used: ${why}`);
  }
  const { reused, wheels } = chooseLibraries(found, build.requirements, build.release);
  for (const { package: name, folder, version } of reused) {
    logger?.log('info', `${name} ${version.join('.')} of ${folder} is used`);
  }
  const folders = [...new Set(reused.map(({ folder }) => folder))];
  if (wheels === undefined) return folders;
  const { name, requirements, titles, bytes } = wheels;
  const dir = join(probe.workdir, 'cuda', name);
  progress.onProgress?.(`installing ${titles.join(', ')} (once)`);
  const params = { dir, neededBytes: bytes, runtime: probe.runtimeDir };
  try {
    await installPackages({ op: 'cuda', params, collection: { runtime: name, requirements } });
  } catch (error) {
    if (!(error instanceof NodeRefusal) || error.otherWay !== 'wheels') throw error;
    throw new UserError('preflight', error.what, { kind: 'useCpu', or: 'packageIndex' }, { cause: error });
  }
  return [...wheels.folders.map((folder) => join(dir, folder)), ...folders];
}

/** Of a build that lacks what `node scripts/native/native.mjs cuda` makes. */
export const noCudaLibrary = 'this build of Trainyard has no CUDA back end (libtrainer_cuda.so)';

/** Why `node` gets no build of the CUDA back end, in words that name it; nothing where it gets one. */
export function buildTrouble(node: string, probe: Probe, payload: Payload): string[] {
  const { release, why } = chooseCudaBuild(probe);
  if (release === undefined) return [`${node}: ${why}`];
  return cudaOf(probe, payload) === undefined ? [`${node}: ${lackingBuild(release, why)}`] : [];
}

/** Said before anything is put on a node. */
export function withoutCuda(what = noCudaLibrary): UserError {
  return new UserError('preflight', what, { kind: 'useCpu', or: 'cudaBuild' });
}

/** The build that a node takes, of those that go to nodes. */
export const takenOf = (node: DriverAndGpus, { cuda }: Pick<Payload, 'cuda'>): CudaBuild =>
  takenCudaBuild(node, (wanted) => cuda.some(({ release }) => release === wanted));

/** Why other nodes, which use this CUDA release, get no back end; undefined where they get one. */
export function troubleElsewhere(
  { cuda }: Pick<Payload, 'cuda'>,
  gpusElsewhere: CudaElsewhere,
): string | undefined {
  if (cuda.length === 0) return noCudaLibrary;
  const { release, why } = takenOf({ driver: null, gpusElsewhere }, { cuda });
  return release === undefined ? why : undefined;
}
