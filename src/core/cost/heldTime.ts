// For how long a run has held its nodes: what its price is paid for.
import type { RunState } from '../contracts/runSchema.js';

/** What tells how long a run held its nodes. */
export type HeldState = Pick<RunState, 'started' | 'ended' | 'updated'>;

/**
 * Seconds from the supervisor's start to the run's end or its last update, or to `until` (seconds
 * since the epoch) where that is earlier. Time of restarts counts.
 */
export function heldSeconds({ started, ended, updated }: HeldState, until = Infinity): number {
  return Math.max(0, Math.min(ended ?? updated, until) - started);
}
