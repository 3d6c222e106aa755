// CUDA 12.9's assembler, headers and libraries, as build/cuda12, beside CUDA 13's toolkit, whose
// front end it uses: NVIDIA's wheels of CUDA 12 have none.
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from '../lib/paths.mjs';
import { cudaLink, ensureCudaToolkit } from './cudaToolkit.mjs';
import { ensureWheels, linkUnversioned, pointAt } from './cudaWheels.mjs';

/**
 * A link to the toolkit in the cache: `cu12` (headers, cuBLAS, NVRTC, nvJPEG), `cudnn`, `nccl` and
 * `compiler` lie below.
 */
const cuda12Link = join(build, 'cuda12');

const wrappers = join(root, 'scripts/native/cuda12');

/**
 * One folder `cu12` of the wheels' several, as the wheels of CUDA 13 have it.
 * @param {string} nvidia
 */
function merge(nvidia) {
  const merged = join(nvidia, 'cu12');
  for (const part of ['cublas', 'cuda_cccl', 'cuda_nvcc', 'cuda_nvrtc', 'cuda_runtime', 'nvjpeg']) {
    for (const kind of ['bin', 'include', 'lib']) {
      const from = join(nvidia, part, kind);
      if (!readdirSync(join(nvidia, part)).includes(kind)) continue;
      for (const name of readdirSync(from)) {
        mkdirSync(join(merged, kind), { recursive: true });
        const to = join(merged, kind, name);
        // Folders of several wheels have the same names.
        if (readdirSync(join(merged, kind)).includes(name)) cpSync(join(from, name), to, { recursive: true });
        else renameSync(join(from, name), to);
      }
    }
    rmSync(join(nvidia, part), { recursive: true });
  }
}

/**
 * A folder that nvcc takes for its own toolkit, with our wrappers in place of assembler and linker.
 * @param {string} nvidia
 * @param {string} cu13
 */
function makeCompiler(nvidia, cu13) {
  const compiler = join(nvidia, 'compiler');
  const bin = join(compiler, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['nvcc', 'cudafe++', 'nvcc.profile']) symlinkSync(join(cu13, 'bin', name), join(bin, name));
  symlinkSync(join(cu13, 'bin/fatbinary'), join(bin, 'fatbinary-13'));
  renameSync(join(nvidia, 'cu12/bin/ptxas'), join(bin, 'ptxas-12'));
  for (const name of readdirSync(wrappers)) {
    copyFileSync(join(wrappers, name), join(bin, name));
    chmodSync(join(bin, name), 0o755);
  }
  for (const name of ['include', 'nvvm']) symlinkSync(join(cu13, name), join(compiler, name));
}

/**
 * Makes both toolkits when they are not in the cache, and points build/cuda and build/cuda12 at
 * them. Returns what the second is made from, as a hash.
 */
export function ensureCuda12Toolkit() {
  const front = ensureCudaToolkit();
  const cu13 = realpathSync(join(cudaLink, 'cu13'));
  const scripts = readdirSync(wrappers).map((name) => readFileSync(join(wrappers, name), 'utf8'));
  const { hash, folder } = ensureWheels({
    what: 'CUDA 12 toolkit: assembler, cuBLAS, NVRTC, cuDNN, NCCL, nvJPEG (about 2.5 GB on disk, once)',
    requirements: join(root, 'scripts/requirements/cuda12.txt'),
    more: [front, readFileSync(new URL(import.meta.url), 'utf8'), ...scripts].join('\0'),
    arrange: (made) => {
      const nvidia = join(made, 'nvidia');
      merge(nvidia);
      makeCompiler(nvidia, cu13);
      for (const part of ['cu12', 'cudnn']) linkUnversioned(join(nvidia, part, 'lib'));
    },
  });
  pointAt(cuda12Link, join(folder, 'nvidia'));
  return hash;
}
