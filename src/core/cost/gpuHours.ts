// GPU hours of a run that Slurm starts: what accounts of a cluster count.
import type { RunFile, RunState } from '../contracts/runSchema.js';
import { earlierSpans, presentSpan } from './heldTime.js';
import { gpusOf } from './runCost.js';

/** What of run.json decides them. */
type CountedRun = Pick<RunFile, 'nodes' | 'gpus' | 'earlier' | 'slurm'>;

/**
 * GPUs of the ranks x hours, over all starts. Time of restarts counts, that in the queue does not.
 * Undefined for a run that Slurm did not start, before its start, and where it never had a GPU.
 */
export function gpuHoursOf(
  run: CountedRun | null,
  state: Pick<RunState, 'started' | 'ended' | 'updated'> | null,
): number | undefined {
  if (!run?.slurm || !state) return undefined;
  const spans = [...earlierSpans(run, state), { ...presentSpan(state), gpus: gpusOf(run) }];
  if (spans.every(({ gpus = 0 }) => gpus === 0)) return undefined;
  return spans.reduce((sum, { from, to, gpus = 0 }) => sum + (gpus * Math.max(0, to - from)) / 3600, 0);
}

/** `12.5`: with two digits behind the point below ten hours. */
export const gpuHoursText = (hours: number): string => hours.toFixed(hours < 10 ? 2 : 1);
