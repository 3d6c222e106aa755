// Successive halving: all candidates run for a short time, the better half for longer, and so on.
// Candidates that cannot be told apart are not separated.
import { quantile } from '../base/quantile.js';
import type { Spread } from '../scaling/series.js';

/** Images/s of parts of a run, one after the other. */
export type Rates = readonly number[];

/** Runs of the same candidate differ by so much, whatever its own steps say. */
const leastDoubt = 0.015;

/**
 * The median with the interval in which it lies in 95 of 100 cases, by the order of the values, and
 * at least 1.5% to either side.
 */
export function medianOf(rates: Rates): Spread {
  const median = quantile(rates, 0.5);
  const around = 0.98 / Math.sqrt(rates.length);
  const [low, high] = [0.5 - around, 0.5 + around].map((at) => quantile(rates, Math.min(1, Math.max(0, at))));
  return {
    median,
    low: Math.min(low ?? median, median * (1 - leastDoubt)),
    high: Math.max(high ?? median, median * (1 + leastDoubt)),
  };
}

/** What became of a candidate after a round. */
export interface Verdict<T> {
  kept: T[];
  /** `level`: the interval reached into that of the last one that was kept, but time was short. */
  dropped: { one: T; level: boolean }[];
}

/**
 * Keeps half as many as ran in this round, `ran`, and who cannot be told apart from the last of
 * them, best first. At most `most`, for more the time would not do. `ones`: all that were measured,
 * so that one that was dropped comes back where longer runs of the others were slower than their
 * short ones.
 */
export function halve<T>(
  ones: readonly T[],
  of: (one: T) => Spread,
  { ran, most }: { ran: number; most: number },
): Verdict<T> {
  const ranked = [...ones].sort((a, b) => of(b).median - of(a).median);
  const half = Math.ceil(ran / 2);
  const last = ranked[half - 1];
  const bar = last === undefined ? 0 : of(last).low;
  const close = ranked.filter((one, at) => at < half || of(one).high >= bar);
  const kept = close.slice(0, Math.max(1, most));
  const dropped = ranked.slice(kept.length).map((one) => ({ one, level: close.includes(one) }));
  return { kept, dropped };
}

/** Who cannot be told apart from the best, best first. */
export function levelWithBest<T>(ones: readonly T[], of: (one: T) => Spread): T[] {
  const ranked = [...ones].sort((a, b) => of(b).median - of(a).median);
  const [best] = ranked;
  return best === undefined ? [] : ranked.filter((one) => of(one).high >= of(best).low);
}

/** Halvings until two are left to be told apart, and once more for these. */
export const roundsOf = (candidates: number): number =>
  Math.max(1, Math.ceil(Math.log2(Math.max(1, candidates))));

/** Shorter runs say nothing. */
const leastSeconds = 1;

/**
 * For how long each of so many runs may train. `left`: seconds for this round and the later ones.
 * `overhead`: seconds of a run that are no training.
 */
export function secondsEach(left: number, rounds: number, runs: number, overhead: number): number {
  return Math.max(leastSeconds, left / rounds / Math.max(1, runs) - overhead);
}

/**
 * How many of the next round's candidates `left` seconds have room for, where each is to train at
 * least three times as long as its start takes, and halves follow until two are left.
 */
export function roomFor(left: number, overhead: number): number {
  const runs = left / (overhead + Math.max(2 * leastSeconds, 3 * overhead));
  return Math.max(2, Math.floor(runs / 2) + 1);
}
