// Which of NVIDIA's libraries a node has for the build that it takes, as a row of a check.
import * as z from 'zod/mini';
import { good, warned, type CheckResult } from '../base/checks.js';
import { join } from '../base/nodePath.js';
import type { Bootstrap } from './bootstrap.js';
import { chooseLibraries, foundSchema, nvidiaLibraries, type FoundLibrary } from './cuda.js';
import type { CudaRelease, DriverAndGpus } from './cudaBuild.js';
import type { PinnedLibraries } from './payload.js';
import { cudaOf, type Probe } from './probe.js';

const lookSchema = z.object({ found: z.array(z.string()) });
const row = 'NVIDIA libraries';

/**
 * The row of one node: each library with its version, once it was loaded there. Those that Trainyard
 * installed are loaded too. Empty where the node takes no build of the CUDA back end. UserError
 * (connection, preflight).
 */
export async function checkLibraries(
  channel: Bootstrap,
  probe: DriverAndGpus & Pick<Probe, 'workdir'>,
  payload: { cuda: readonly PinnedLibraries[] },
): Promise<CheckResult[]> {
  const build = cudaOf(probe, payload);
  if (probe.driver === null || build === undefined) return [];
  const { release, requirements } = build;
  const { found } = await channel.request('cuda-look', { release }, foundSchema);
  const { reused, wheels } = chooseLibraries(found, requirements, release);
  if (wheels === undefined) return [good(row, namesOf(reused, release))];
  const dir = join(probe.workdir, 'cuda', wheels.name);
  const [stands] = (await channel.request('look', { paths: [dir] }, lookSchema)).found;
  if (stands !== 'folder') {
    const size = `${(wheels.bytes / 1e9).toFixed(1)} GB`;
    const told = `${wheels.titles.join(', ')} are installed by the first run on GPUs (up to ${size})`;
    return [good(row, [...named(reused, release), told].join('; '))];
  }
  const folders = wheels.folders.map((folder) => join(dir, folder));
  const installed = await channel.request('cuda-look', { release, folders }, foundSchema);
  const all = chooseLibraries([...reused, ...installed.found], requirements, release);
  if (all.wheels === undefined) return [good(row, namesOf(all.reused, release))];
  const told = `${all.wheels.titles.join(', ')} in ${dir} cannot be loaded`;
  const hint = `Remove ${dir} on the node: the next run on GPUs installs them again`;
  return [warned(row, told, hint)];
}

const named = (libraries: readonly FoundLibrary[], release: CudaRelease): string[] =>
  libraries.length === 0 ? [] : [namesOf(libraries, release)];

/** `cuBLAS 13.1.0, NVRTC 13.0.0`. */
const namesOf = (libraries: readonly FoundLibrary[], release: CudaRelease): string =>
  libraries
    .map(
      ({ package: name, version }) => `${nvidiaLibraries[release][name]?.title ?? name} ${version.join('.')}`,
    )
    .join(', ');
