// Which of the two builds of the CUDA back end a node gets: by its driver and its GPUs.

/** A major version of CUDA for which libtrainer_cuda.so is built. */
export type CudaRelease = 12 | 13;

/** In the order in which a build that has both prefers them. */
export const cudaReleases: readonly CudaRelease[] = [13, 12];

/**
 * The first release of the driver that runs programs of each CUDA (CUDA release notes, table of
 * minimum drivers; 12 by minor-version compatibility).
 */
export const oldestDrivers: Readonly<Record<CudaRelease, number>> = { 13: 580, 12: 525 };

/**
 * A node's NVIDIA driver, null where there is none, and its GPUs by their PCI device numbers, four
 * hex digits each ("1db6").
 */
export interface DriverAndGpus {
  driver: string | null;
  /** It holds the programs of other nodes, which have the GPUs: the build that those nodes get. */
  gpusElsewhere?: CudaElsewhere | undefined;
  gpus?: readonly string[] | undefined;
}

/** The build that nodes get which see another node's disk, and why, as part of a sentence. */
export interface CudaElsewhere {
  release: CudaRelease;
  why: string;
}

/** The build that fits a node, undefined where none does, and why, as part of a sentence. */
export type CudaBuild = CudaElsewhere | { release: undefined; why: string };

/**
 * The build that a node takes: what fits it, of the builds that are there. `has`: which are.
 */
export function takenCudaBuild(node: DriverAndGpus, has: (release: CudaRelease) => boolean): CudaBuild {
  const fitting = chooseCudaBuild(node);
  const { release, why } = fitting;
  if (release === undefined || has(release)) return fitting;
  return { release: undefined, why: lackingBuild(release, why) };
}

/** Of a Trainyard that has the other build only; `why` is that of the choice. */
export const lackingBuild = (release: CudaRelease, why: string): string =>
  `this build of Trainyard has no CUDA back end for CUDA ${release} (${why})`;

/** For a person, of a node that is named elsewhere: `CUDA 13's build, since driver 580.65 runs it`. */
export const cudaBuildText = ({ release, why }: CudaBuild): string =>
  release === undefined ? `no CUDA back end, since ${why}` : `CUDA ${release}'s build, since ${why}`;

/** The same of a node with so many GPUs; nothing to say of one without any that no build fits. */
export const cudaBuildLines = (build: CudaBuild | undefined, gpus: number): string[] =>
  build && (build.release !== undefined || gpus > 0) ? [cudaBuildText(build)] : [];

/**
 * Generations for which the CUDA 13 build has no code, by ranges of PCI device numbers (the PCI ID
 * database: GV100; TU102 to TU117).
 */
const before13: readonly (readonly [string, number, number])[] = [
  ['Volta', 0x1d80, 0x1dff],
  ['Turing', 0x1e00, 0x1fff],
  ['Turing', 0x2180, 0x21ff],
];

const generationOf = (id: string): string | undefined => {
  const number = Number.parseInt(id, 16);
  return before13.find(([, first, last]) => number >= first && number <= last)?.[0];
};

/** The one place where the build is decided. */
export function chooseCudaBuild({ driver, gpus = [], gpusElsewhere }: DriverAndGpus): CudaBuild {
  if (gpusElsewhere !== undefined) return gpusElsewhere;
  if (driver === null) return { release: undefined, why: 'there is no NVIDIA driver' };
  const version = Number.parseInt(driver, 10);
  if (!(version >= oldestDrivers[12])) {
    const why = `the NVIDIA driver is ${driver}, and CUDA needs ${oldestDrivers[12]} or newer`;
    return { release: undefined, why };
  }
  if (version < oldestDrivers[13]) {
    return { release: 12, why: `driver ${driver} is older than ${oldestDrivers[13]}` };
  }
  const old = gpus.flatMap((id) => generationOf(id) ?? [])[0];
  if (old !== undefined) return { release: 12, why: `CUDA 13's has no code for ${old} GPUs` };
  return { release: 13, why: `driver ${driver} runs it` };
}
