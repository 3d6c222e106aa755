// NVIDIA's libraries on a node that has a GPU: found there, or brought to it.
import type { Logger } from '../base/log.js';
import type { Progress } from '../base/progress.js';
import { UserError } from '../base/errors.js';
import { join, type NodePath } from '../base/nodePath.js';
import type { Bootstrap } from './bootstrap.js';
import { chooseLibraries, foundSchema } from './cuda.js';
import type { Payload } from './payload.js';
import type { Probe } from './probe.js';
import type { Installation } from './packages.js';

/** What the search for NVIDIA's libraries on one node works with. */
export interface CudaNeeds {
  bootstrap: Bootstrap;
  probe: Probe;
  payload: Payload;
  /** On this node. */
  installPackages: (installation: Installation) => Promise<void>;
  logger?: Logger | undefined;
}

/**
 * Absolute folders for TRAINYARD_NVIDIA_LIBRARIES. UserError (preflight, connection), Cancelled.
 */
export async function provideLibraries(needs: CudaNeeds, progress: Progress): Promise<NodePath[]> {
  const { bootstrap, probe, payload, installPackages, logger } = needs;
  if (payload.cuda === undefined) throw withoutCuda();
  progress.onProgress?.("looking for NVIDIA's libraries");
  const { found, left } = await bootstrap.request('cuda-look', {}, foundSchema, progress);
  for (const { package: name, why } of left) {
    logger?.log('warn', `${name} of this node is not used: ${why}`);
  }
  const { reused, wheels } = chooseLibraries(found, payload.cuda.requirements);
  for (const { package: name, folder, version } of reused) {
    logger?.log('info', `${name} ${version.join('.')} of ${folder} is used`);
  }
  const folders = [...new Set(reused.map(({ folder }) => folder))];
  if (wheels === undefined) return folders;
  const { name, requirements, titles, bytes } = wheels;
  const dir = join(probe.workdir, 'cuda', name);
  progress.onProgress?.(`installing ${titles.join(', ')} (once)`);
  const params = { dir, neededBytes: bytes, runtime: probe.runtimeDir };
  await installPackages({
    op: 'cuda',
    params,
    collection: { runtime: name, requirements, pip: payload.pip },
  });
  return [...wheels.folders.map((folder) => join(dir, folder)), ...folders];
}

/** Of a build that lacks what `node scripts/native/native.mjs cuda` makes. */
export const noCudaLibrary = 'this build of Trainyard has no CUDA back end (libtrainer_cuda.so)';

/** Said before anything is put on a node. */
export function withoutCuda(): UserError {
  return new UserError('preflight', noCudaLibrary, { kind: 'useCpu', or: 'cudaBuild' });
}
