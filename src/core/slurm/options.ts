// What a profile and a request ask of Slurm, as numbers and words.
import type { Profile } from '../contracts/profileSchema.js';

/** The part of a profile that is for Slurm. */
export type SlurmFields = NonNullable<Profile['slurm']>;

/** Seconds before the time limit at which a run stops, unless the profile says otherwise. */
const usualStopAhead = 120;

/** How many GPUs each node of an allocation has; 0 where none are asked for. */
export function gpusPerNodeOf({ gpusPerNode, gres }: SlurmFields): number {
  if (gpusPerNode !== undefined) return gpusPerNode;
  for (const one of (gres ?? '').split(',')) {
    // gpu, gpu:4, gpu:a100, gpu:a100:4, and behind it the sockets: gpu:4(S:0)
    const found = /^(?:gres[:/])?gpu(?::[^:()]+)??(?::(\d+))?(?:\(.*\))?$/.exec(one.trim());
    if (found) return Number(found[1] ?? 1);
  }
  return 0;
}

/** Seconds before the time limit at which Slurm is asked to warn the job. */
export const stopAheadOf = ({ stopAhead }: SlurmFields): number => stopAhead ?? usualStopAhead;
