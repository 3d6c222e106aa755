// NVIDIA's compiler and libraries, kept in the user's cache and used through build/cuda. Only what
// builds or tests libtrainer_cuda.so asks for them; they are proprietary and never part of what we
// ship.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, cache, root, toolchainLink } from '../lib/paths.mjs';
import { has, run, step } from '../lib/shell.mjs';
import { ensureSystemPackages } from '../lib/systemPackages.mjs';
import { ensureToolchain } from './toolchain.mjs';

const requirements = join(root, 'scripts/requirements/cuda.txt');
/**
 * A link to the toolkit in the cache: `cu13` (compiler, headers, cuBLAS, NVRTC, nvJPEG), `cudnn`
 * and `nccl` lie below.
 */
export const cudaLink = join(build, 'cuda');

/** nvcc wants a host compiler for what launches the kernels, and takes no clang as new as ours. */
const hostCompiler = [{ package: 'g++', present: () => has('g++') }];

/**
 * Linkers look for libX.so, wheels bring only libX.so.N.
 * @param {string} folder
 */
function linkUnversioned(folder) {
  for (const name of readdirSync(folder)) {
    const plain = /^(lib.+\.so)\.\d+$/.exec(name)?.[1];
    if (plain && !existsSync(join(folder, plain))) symlinkSync(name, join(folder, plain));
  }
}

/** @param {string} final */
function install(final) {
  const temporary = `${final}.partial-${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  try {
    step('CUDA toolkit: compiler, cuBLAS, NVRTC, cuDNN, NCCL, nvJPEG (about 2 GB on disk, once)');
    run(join(toolchainLink, 'venv/bin/python'), [
      '-m',
      'pip',
      'install',
      '-q',
      '--disable-pip-version-check',
      '--no-compile',
      '--no-deps',
      '--require-hashes',
      '--target',
      temporary,
      '-r',
      requirements,
    ]);
    for (const part of ['cu13', 'cudnn']) linkUnversioned(join(temporary, 'nvidia', part, 'lib'));
    renameSync(temporary, final);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Makes the toolkit when it is not in the cache, and points build/cuda at it. Returns what it is
 * made from, as a hash.
 */
export function ensureCudaToolkit() {
  ensureToolchain();
  ensureSystemPackages(hostCompiler);
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(cache, 'cuda', hash);
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    install(folder);
  }
  rmSync(cudaLink, { force: true });
  symlinkSync(join(folder, 'nvidia'), cudaLink);
  return hash;
}
