// NVIDIA's compiler and libraries, kept in the user's cache and used through build/cuda. Only what
// builds or tests libtrainer_cuda.so asks for them; they are proprietary and never part of what we
// ship.
import { join } from 'node:path';
import { build, root } from '../lib/paths.mjs';
import { has } from '../lib/shell.mjs';
import { ensureSystemPackages } from '../lib/systemPackages.mjs';
import { ensureWheels, linkUnversioned, pointAt } from './cudaWheels.mjs';
import { ensureToolchain } from './toolchain.mjs';

/**
 * A link to the toolkit in the cache: `cu13` (compiler, headers, cuBLAS, NVRTC, nvJPEG), `cudnn`
 * and `nccl` lie below.
 */
export const cudaLink = join(build, 'cuda');

/** nvcc wants a host compiler for what launches the kernels, and takes no clang as new as ours. */
const hostCompiler = [{ package: 'g++', present: () => has('g++') }];

/**
 * Makes the toolkit when it is not in the cache, and points build/cuda at it. Returns what it is
 * made from, as a hash.
 */
export function ensureCudaToolkit() {
  ensureToolchain();
  ensureSystemPackages(hostCompiler);
  const { hash, folder } = ensureWheels({
    what: 'CUDA toolkit: compiler, cuBLAS, NVRTC, cuDNN, NCCL, nvJPEG (about 2 GB on disk, once)',
    requirements: join(root, 'scripts/requirements/cuda.txt'),
    arrange: (made) => {
      for (const part of ['cu13', 'cudnn']) linkUnversioned(join(made, 'nvidia', part, 'lib'));
    },
  });
  pointAt(cudaLink, join(folder, 'nvidia'));
  return hash;
}
