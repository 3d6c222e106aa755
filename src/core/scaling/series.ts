// What was measured at one number of replicas, and what a series of such points comes to.
import { quantile } from '../base/quantile.js';
import type { RankTimes } from '../model/hosts/slowRanks.js';

/** `weak`: every replica keeps its batch. `strong`: all replicas share the batch of one. */
export type ScalingMode = 'weak' | 'strong';

/** The middle of several values, and the quartiles on either side. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

/** One short training. Times are those of a step, in milliseconds. */
export interface ScalingPoint {
  mode: ScalingMode;
  replicas: number;
  /** On which the replicas were. */
  hosts: number;
  /** Which the hosts are: fewer where some are containers of one machine. Left out: as many. */
  machines?: number | undefined;
  /** Of one replica, images of an update. */
  batch: number;
  /** Threads of one replica, and cores of a machine where they are known. */
  threads: number;
  cores: number | null;
  /** Bytes of the gradients that the replicas add up in a step. */
  gradientBytes: number;
  /** Of all replicas together. */
  imagesPerSec: Spread;
  stepMs: Spread;
  /** In which rank 0 waited for others, and for images. */
  commMs: Spread;
  inputMs: Spread;
  /** Parts of the time of all steps together: waits that come and go are in no median. */
  waits: { communication: number; input: number };
  /** Of single steps, without the waits. */
  computeSamples: number[];
  /**
   * Of every replica, in order of the ranks, but for rank 0 of central storage, which also makes
   * the updates. Left out where the trainer did not say.
   */
  ranks?: RankTimes[] | undefined;
  /**
   * An all-reduce of `gradientBytes` without a training around it; null where none was measured.
   */
  allReduceMs: number | null;
  /** Of all that the run held, for an hour; null without a price. */
  perHour: number | null;
}

/** Median and quartiles. */
export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/** What a step takes without its waits, in milliseconds: the median. */
export const computeMs = ({ computeSamples }: ScalingPoint): number => quantile(computeSamples, 0.5);

/** Of a step, as fractions that add up to 1. */
export interface Shares {
  compute: number;
  communication: number;
  input: number;
}

/** Where the time of a step goes. */
function sharesOf({ waits }: ScalingPoint): Shares {
  const communication = Math.min(1, waits.communication);
  const input = Math.min(1 - communication, waits.input);
  return { compute: 1 - communication - input, communication, input };
}

/** One point beside the one with the fewest replicas of its series. */
export interface ScaledPoint<P extends ScalingPoint = ScalingPoint> {
  point: P;
  /** Of images/s. */
  speedup: number;
  /** The speed-up over how many times more replicas there are; 1 is ideal. */
  efficiency: Spread;
  shares: Shares;
}

/** The points of one mode, fewest replicas first. Empty where there are none. */
export function scaledSeries<P extends ScalingPoint>(
  points: readonly P[],
  mode: ScalingMode,
): ScaledPoint<P>[] {
  const own = points
    .filter((point) => point.mode === mode)
    .sort((a, b) => a.replicas - b.replicas || a.batch - b.batch);
  const [first] = own;
  if (!first) return [];
  const rate = first.imagesPerSec.median / first.replicas;
  return own.map((point) => {
    const of = (value: number): number => value / point.replicas / rate;
    const { median, low, high } = point.imagesPerSec;
    return {
      point,
      speedup: median / first.imagesPerSec.median,
      efficiency: { median: of(median), low: of(low), high: of(high) },
      shares: sharesOf(point),
    };
  });
}
