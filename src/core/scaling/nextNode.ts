// What one more node brings: more images/s, and what they cost.
import { machinesOf, replicasOnHost, type Layout } from './links.js';
import type { Prediction } from './predict.js';
import type { ScalingPoint } from './series.js';

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

/** `largest` is measured, `prediction` of `withOneMore(largest)`. */
export function nextNode(largest: ScalingPoint, prediction: Prediction): NextNode {
  const now = largest.imagesPerSec.median;
  const { perHour, hosts } = largest;
  const then = perHour === null ? null : (perHour * prediction.hosts) / hosts;
  const million = (price: number | null, rate: number): number | null =>
    price === null ? null : (price / 3600 / rate) * 1e6;
  return {
    replicas: prediction.replicas,
    hosts: prediction.hosts,
    moreImagesPerSec: prediction.imagesPerSec - now,
    low: prediction.low - now,
    high: prediction.high - now,
    morePerHour: perHour === null || then === null ? null : then - perHour,
    millionNow: million(perHour, now),
    millionThen: million(then, prediction.imagesPerSec),
  };
}
