// Points whose figures are worked out by hand.
import type { ScalingPoint, Spread } from '../../../../src/core/scaling/series.js';

export const exactly = (value: number): Spread => ({ median: value, low: value, high: value });

/** Of a step of 100 ms, unless it is said otherwise; images/s follow from step, batch and replicas. */
export function madePoint(
  made: Partial<ScalingPoint> & { step?: number; comm?: number; input?: number },
): ScalingPoint {
  const { step = 100, comm = 0, input = 0, replicas = 1, batch = 32 } = made;
  return {
    mode: 'weak',
    replicas,
    hosts: 1,
    batch,
    threads: 1,
    cores: 64,
    gradientBytes: 1e6,
    imagesPerSec: exactly((1000 * batch * replicas) / step),
    stepMs: exactly(step),
    commMs: exactly(comm),
    inputMs: exactly(input),
    waits: { communication: comm / step, input: input / step },
    computeSamples: Array.from({ length: 8 }, () => step - comm - input),
    allReduceMs: null,
    perHour: null,
    ...Object.fromEntries(Object.entries(made).filter(([key]) => !['step', 'comm', 'input'].includes(key))),
  };
}
