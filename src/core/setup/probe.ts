// What a node is, and what of it would keep a run from starting: said before anything is copied to
// it.
import { freeText } from '../base/sizeText.js';
import * as z from 'zod/mini';
import { bad, good, type CheckResult } from '../base/checks.js';
import { installLibgomp, keepProcesses } from '../base/nodeCommands.js';
import type { Remedy } from '../base/remedy.js';
import {
  chooseCudaBuild,
  cudaBuildText,
  oldestDrivers,
  type CudaRelease,
  type DriverAndGpus,
} from './cudaBuild.js';
import type { Payload, PayloadFile } from './payload.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import { neededBytes } from './pythonRuntime.js';

const count = z.int().check(z.gte(0));

/**
 * What the set-up program answers about a node. `python` is the version of Python, `driver` that of
 * NVIDIA's driver or null where there is none, `gpus` are NVIDIA's by their PCI device numbers in
 * hex, `free` is in bytes, and `problem` says why `workdir` cannot be used.
 */
export const probeSchema = z.object({
  python: z.array(count),
  machine: z.string(),
  system: z.string(),
  glibc: z.string(),
  home: nodePathSchema,
  uid: z.int(),
  workdir: nodePathSchema,
  problem: z.nullable(z.string()),
  /** What to do about it, where that is not to name a folder that can be written. */
  problemHint: z.optional(z.nullable(z.string())),
  libgomp: z.boolean(),
  driver: z.nullable(z.string()),
  gpus: z.optional(z.array(z.string())),
  killsUserProcesses: z.boolean(),
  cores: count,
  free: z.optional(count),
  inodesFree: z.optional(count),
  sharesToken: z.optional(z.boolean()),
  nodeDir: z.optional(nodePathSchema),
  runtimeDir: z.optional(nodePathSchema),
  hasNode: z.optional(z.boolean()),
  hasRuntime: z.optional(z.boolean()),
  /** Of each build of the CUDA back end that was asked for, in that order. */
  cudaNodes: z.optional(z.array(z.object({ dir: nodePathSchema, has: z.boolean() }))),
  /** Set by the client: nodes that see this one's disk have GPUs, and get this build. */
  gpusElsewhere: z.optional(z.object({ release: z.literal([12, 13]), why: z.string() })),
});
/** A node as its set-up program sees it. */
export type Probe = z.infer<typeof probeSchema>;

const oldestPython = [3, 9] as const;
/** What agent and trainer are built for. */
export const oldestGlibc = [2, 28] as const;
/** Below this a run would not get far. */
const fewestInodes = 10_000;
/** Bytes that the programs take on disk. */
const programBytes = 20_000_000;

/** The build of the CUDA back end that a node gets: undefined where none fits, or is not there. */
export function cudaOf<T extends { release: CudaRelease }>(
  node: DriverAndGpus,
  { cuda }: { cuda: readonly T[] },
): T | undefined {
  const { release } = chooseCudaBuild(node);
  return cuda.find((each) => each.release === release);
}

/** What of the payload a node gets: the CUDA back end where its GPU can run it. */
export function filesFor(probe: Probe, payload: Payload): readonly PayloadFile[] {
  const cuda = cudaOf(probe, payload);
  return cuda ? [...payload.files, cuda.library] : payload.files;
}

/** As the node answered, with the folder of the files it gets. */
export function withOwnFolder(probe: Probe, payload: Payload): Probe {
  const cuda = cudaOf(probe, payload);
  const own = cuda && probe.cudaNodes?.[payload.cuda.indexOf(cuda)];
  return own ? { ...probe, nodeDir: own.dir, hasNode: own.has } : probe;
}

/**
 * `wantsGpu`: whether the run needs CUDA, which makes an old driver a failure. `host`: the node, as
 * the profile names it.
 */
export function checkProbe(probe: Probe, wantsGpu: boolean, host: string): CheckResult[] {
  const results: CheckResult[] = [];
  const { python, machine, system, glibc, problem, workdir, driver } = probe;
  results.push(
    system === 'Linux' && machine === 'x86_64'
      ? good('machine', 'x86-64 Linux')
      : bad('machine', `this is ${machine} ${system}`, 'Nodes must be x86-64 Linux'),
    atLeast(python, oldestPython)
      ? good('python', python.join('.'))
      : bad('python', `python3 is ${python.join('.')}`, 'Install Python 3.9 or newer on the node'),
    atLeast(glibc.split('.').map(Number), oldestGlibc)
      ? good('glibc', glibc)
      : bad('glibc', olderGlibc(glibc), newerSystem),
    probe.libgomp
      ? good('libgomp', 'libgomp.so.1 is there')
      : bad('libgomp', 'libgomp.so.1 is not installed', installLibgomp),
    problem === null
      ? good('workdir', `${workdir} can be written and runs programs`)
      : bad('workdir', `${workdir} ${problem}`, workdirHint(probe, host)),
  );
  if (probe.free !== undefined) results.push(checkSpace(probe, probe.free, host));
  if ((probe.inodesFree ?? Infinity) < fewestInodes) {
    const told = `${probe.inodesFree ?? 0} inodes free, ${fewestInodes} are needed in ${workdir}`;
    results.push(bad('inodes', told, 'Remove files there: small ones take an inode each too'));
  }
  if (probe.killsUserProcesses) {
    const what = 'it ends your processes when you log out (KillUserProcesses)';
    results.push(bad('logind', what, keepProcesses));
  }
  if (probe.gpusElsewhere !== undefined) {
    results.push(good('driver', `compute nodes: ${cudaBuildText(probe.gpusElsewhere)}`));
  } else if (driver !== null) {
    const build = chooseCudaBuild(probe);
    const hint = `Install driver ${oldestDrivers[13]}, or ${oldestDrivers[12]} at least`;
    if (build.release !== undefined) {
      results.push(good('driver', `NVIDIA ${driver}: ${cudaBuildText(build)}`));
    } else {
      results.push(
        wantsGpu ? bad('driver', build.why, hint) : good('driver', `NVIDIA ${driver}, too old for CUDA`),
      );
    }
  }
  return results;
}

const olderGlibc = (glibc: string): string =>
  glibc === ''
    ? `the C library is no glibc, and our programs need glibc ${oldestGlibc.join('.')} or newer`
    : `glibc is ${glibc}, and our programs need ${oldestGlibc.join('.')} or newer`;
const newerSystem =
  'glibc comes with the system: use a node with Debian 10, Ubuntu 20.04, RHEL 8 or newer, or leave this host out';

const workdirHint = ({ problemHint }: Probe, host: string): Remedy => ({
  kind: 'otherWorkdir',
  host,
  ...(typeof problemHint === 'string' ? { advice: problemHint } : {}),
});

function checkSpace(probe: Probe, free: number, host: string): CheckResult {
  const needed = (probe.hasRuntime === true ? 0 : neededBytes) + (probe.hasNode === true ? 0 : programBytes);
  const detail = freeText(free, probe.workdir, needed);
  if (free < needed) return bad('disk', detail, { kind: 'moreSpace', host });
  return { ...good('disk', detail), amount: free };
}

function atLeast(version: readonly number[], wanted: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version;
  return major > wanted[0] || (major === wanted[0] && minor >= wanted[1]);
}
