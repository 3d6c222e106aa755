// What a node with a GPU needs beyond the runtime: NVIDIA's libraries, its own ones where they are
// of the right versions.
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { nodePathSchema } from '../base/nodePathSchema.js';
import type { CudaRelease } from './cudaBuild.js';

interface Library {
  title: string;
  /** Of the wheel, below `nvidia`. */
  folder: string;
  /**
   * libtrainer_cuda.so is built with these or newer ones, but for cuBLAS, NCCL and nvJPEG, of which
   * it uses nothing that is newer. cuDNN asks for any NVRTC of its CUDA's major version.
   */
  oldest: readonly [number, number, number];
  /** Not this one or a newer one. */
  before?: readonly [number, number, number];
  /** On disk, with what pip needs meanwhile. */
  bytes: number;
}

/** By the wheel that brings it, as in native/runtime/cuda.txt and cuda12.txt. */
export const nvidiaLibraries: Readonly<Record<CudaRelease, Readonly<Record<string, Library>>>> = {
  13: {
    'nvidia-cublas': { title: 'cuBLAS', folder: 'cu13', oldest: [13, 0, 0], bytes: 1_300_000_000 },
    'nvidia-cuda-nvrtc': { title: 'NVRTC', folder: 'cu13', oldest: [13, 0, 0], bytes: 320_000_000 },
    'nvidia-cudnn-cu13': { title: 'cuDNN', folder: 'cudnn', oldest: [9, 19, 0], bytes: 1_000_000_000 },
    'nvidia-nccl-cu13': { title: 'NCCL', folder: 'nccl', oldest: [2, 27, 7], bytes: 900_000_000 },
    'nvidia-nvjpeg': { title: 'nvJPEG', folder: 'cu13', oldest: [13, 0, 0], bytes: 20_000_000 },
  },
  12: {
    'nvidia-cublas-cu12': { title: 'cuBLAS', folder: 'cublas', oldest: [12, 9, 0], bytes: 1_500_000_000 },
    'nvidia-cuda-nvrtc-cu12': {
      title: 'NVRTC',
      folder: 'cuda_nvrtc',
      oldest: [12, 0, 0],
      bytes: 350_000_000,
    },
    // 9.10 is the last that runs on Volta.
    'nvidia-cudnn-cu12': {
      title: 'cuDNN',
      folder: 'cudnn',
      oldest: [9, 10, 2],
      before: [9, 11, 0],
      bytes: 1_800_000_000,
    },
    'nvidia-nccl-cu12': { title: 'NCCL', folder: 'nccl', oldest: [2, 27, 7], bytes: 800_000_000 },
    'nvidia-nvjpeg-cu12': { title: 'nvJPEG', folder: 'nvjpeg', oldest: [12, 0, 0], bytes: 20_000_000 },
  },
};

const count = z.int().check(z.gte(0));
/**
 * What the set-up program answers about NVIDIA's libraries on a node. `cuda` is the major version
 * of CUDA for which a library was built.
 */
export const foundSchema = z.object({
  found: z.array(
    z.object({ package: z.string(), folder: nodePathSchema, version: z.array(count), cuda: count }),
  ),
  /** What stands there and is not loaded, since another user could change it. */
  left: z.array(z.object({ package: z.string(), why: z.string() })),
});
/** One library of NVIDIA that is on a node. */
export type FoundLibrary = z.output<typeof foundSchema>['found'][number];

/**
 * Which libraries are used as they lie on the node, and which are installed. `bytes` is what the
 * wheels take on disk.
 */
export interface CudaChoice {
  /** Folders on the node whose libraries are used as they are. */
  reused: FoundLibrary[];
  /** Of the others, or undefined where there are none. */
  wheels:
    { name: string; requirements: string; titles: string[]; bytes: number; folders: string[] } | undefined;
}

/** `pinned`: the text of native/runtime/cuda.txt or cuda12.txt. */
export function chooseLibraries(
  found: readonly FoundLibrary[],
  pinned: string,
  release: CudaRelease,
): CudaChoice {
  const reused: FoundLibrary[] = [];
  const missing: string[] = [];
  for (const [name, library] of Object.entries(nvidiaLibraries[release])) {
    const good = found.find(
      (one) => one.package === name && one.cuda === release && fits(one.version, library),
    );
    if (good) reused.push(good);
    else missing.push(name);
  }
  if (missing.length === 0) return { reused, wheels: undefined };
  const requirements = requirementsOf(pinned, missing);
  const libraries = missing.flatMap((name) => nvidiaLibraries[release][name] ?? []);
  return {
    reused,
    wheels: {
      name: createHash('sha256').update(requirements).digest('hex').slice(0, 16),
      requirements,
      titles: libraries.map(({ title }) => title),
      bytes: libraries.reduce((sum, { bytes }) => sum + bytes, 0),
      folders: [...new Set(libraries.map(({ folder }) => `lib/nvidia/${folder}/lib`))],
    },
  };
}

/**
 * Of the same major version, and not older: a newer major version has another name of its file, but
 * for NCCL's.
 */
function fits(version: readonly number[], { oldest, before }: Library): boolean {
  const [major = 0, minor = 0, patch = 0] = version;
  const beyond = (limit: Library['oldest']): boolean => (minor - limit[1] || patch - limit[2]) >= 0;
  return major === oldest[0] && beyond(oldest) && !(before !== undefined && beyond(before));
}

/** The lines of these packages. TypeError where one is not pinned. */
function requirementsOf(pinned: string, names: readonly string[]): string {
  const lines = pinned.split('\n');
  const kept = names.flatMap((name) => {
    const at = lines.findIndex((line) => line.startsWith(`${name}==`));
    if (at < 0) throw new TypeError(`${name} is not pinned`);
    return lines.slice(at, at + 2);
  });
  return `${kept.join('\n')}\n`;
}
