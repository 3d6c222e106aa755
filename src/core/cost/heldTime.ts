// For how long a run has held its nodes, over all its starts: how long the run took, and what its
// price is paid for.
import type { HeldSpan, RunFile, RunState } from '../contracts/runSchema.js';

/** What tells how long one start of a run held its nodes. */
type HeldState = Pick<RunState, 'started' | 'ended' | 'updated'>;
/** What a run knows of its earlier starts. */
type EarlierStarts = Pick<RunFile, 'earlier'> | null;

const lengthOf = ({ from, to }: Pick<HeldSpan, 'from' | 'to'>, until = Infinity): number =>
  Math.max(0, Math.min(to, until) - from);

/**
 * The starts before the one that `state` tells of, the oldest first. A start whose state is not
 * there yet leaves the last one's, which counts once.
 */
export function earlierSpans(run: EarlierStarts, state: HeldState): readonly HeldSpan[] {
  return (run?.earlier ?? []).filter(({ from }) => from !== state.started);
}

/** The seconds and the price of an earlier start, up to `until`. Without a price there, 0. */
export function spanCost(span: HeldSpan, currency: string, until = Infinity): number {
  if (span.perHour === undefined || span.currency !== currency) return 0;
  return (span.perHour * lengthOf(span, until)) / 3600;
}

/**
 * When the run held no nodes between two of its starts, the oldest first: from a stop to the resume
 * after it. Seconds since the epoch.
 */
export function pausesOf(run: EarlierStarts, state: HeldState): Pick<HeldSpan, 'from' | 'to'>[] {
  const spans = [...earlierSpans(run, state), presentSpan(state)];
  return spans.slice(1).flatMap(({ from: to }, index) => {
    const from = spans[index]?.to ?? to;
    return to > from ? [{ from, to }] : [];
  });
}

/** From the supervisor's start to the run's end or its last update; times are since the epoch. */
export function presentSpan({ started, ended, updated }: HeldState): Pick<HeldSpan, 'from' | 'to'> {
  return { from: started, to: ended ?? updated };
}

/** When the first start of the run began, seconds since the epoch. */
export const firstStarted = (run: EarlierStarts, state: HeldState): number =>
  earlierSpans(run, state).reduce((first, { from }) => Math.min(first, from), state.started);

/**
 * How long a run took: seconds for which the run held its nodes, in all its starts, up to
 * `until` (seconds since the epoch). Time of restarts counts, time between two starts does not.
 */
export function heldSeconds(run: EarlierStarts, state: HeldState, until = Infinity): number {
  const spans = [...earlierSpans(run, state), presentSpan(state)];
  return spans.reduce((sum, span) => sum + lengthOf(span, until), 0);
}
