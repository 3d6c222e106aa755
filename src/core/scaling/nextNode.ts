// What one more node brings: more images/s, and what they cost.
import { machinesOf, replicasOnHost, type Layout } from './links.js';
import type { Prediction } from './predict.js';
import type { ScaledPoint, ScalingPoint } from './series.js';

/** A prediction beside the largest point. Money is in the currency of the run, for an hour. */
export interface NextNode {
  replicas: number;
  hosts: number;
  moreImagesPerSec: number;
  /** Of the predictions' interval. */
  low: number;
  high: number;
  /** Null without a price. */
  morePerHour: number | null;
  /** Of a million images: as it is now, and with one more node. */
  millionNow: number | null;
  millionThen: number | null;
}

/** Of that many replicas on a node: the layout with one node more than the largest point. */
export const withOneMore = (point: ScalingPoint): Layout => ({
  replicas: point.replicas + replicasOnHost(point),
  hosts: point.hosts + 1,
  machines: machinesOf(point, point.hosts + 1),
});

/** Whether the most replicas of a series were no faster than the fewest. */
export const gainedNothing = (series: readonly ScaledPoint[]): boolean =>
  series.length > 1 && (series.at(-1)?.speedup ?? Infinity) <= 1;

/**
 * Images/s of a node that waits for no other, with as many replicas as the largest point has on
 * one; by the fewest replicas.
 */
export function idealOfNode(series: readonly ScaledPoint[]): number {
  const first = series[0]?.point;
  const largest = series.at(-1)?.point;
  if (!first || !largest) return Infinity;
  return (first.imagesPerSec.median / first.replicas) * replicasOnHost(largest);
}

/**
 * `largest` is measured, `prediction` of `withOneMore(largest)`. A node brings `most` images/s at
 * most.
 */
export function nextNode(largest: ScalingPoint, prediction: Prediction, most = Infinity): NextNode {
  const now = largest.imagesPerSec.median;
  const more = (rate: number): number => Math.min(most, rate - now);
  const { perHour, hosts } = largest;
  const then = perHour === null ? null : (perHour * prediction.hosts) / hosts;
  const million = (price: number | null, rate: number): number | null =>
    price === null ? null : (price / 3600 / rate) * 1e6;
  return {
    replicas: prediction.replicas,
    hosts: prediction.hosts,
    moreImagesPerSec: more(prediction.imagesPerSec),
    low: more(prediction.low),
    high: more(prediction.high),
    morePerHour: perHour === null || then === null ? null : then - perHour,
    millionNow: million(perHour, now),
    millionThen: million(then, now + more(prediction.imagesPerSec)),
  };
}
