// What a fitted model says of other numbers of replicas, how sure that is, and how wrong it was where
// that could be looked at.
import type { Layout, Reduction } from './links.js';
import { fitModel, predictedRate, type Noise, type Setup, type TimedPoint } from './model.js';

/** Images/s, with an interval in which four of five such predictions should lie. Never a measurement. */
export interface Prediction extends Layout {
  imagesPerSec: number;
  low: number;
  high: number;
}

/** How far a prediction of a point from all other ones was off. */
export interface LeftOut extends Layout {
  measured: number;
  predicted: number;
  /** Predicted over measured, less 1. */
  error: number;
}

/** Fits by which the interval is found. */
const fits = 60;

/** Chance that is the same each time (mulberry32), as a normal distribution. */
function seededNoise(): Noise {
  let state = 20_261_125;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
  return { next: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) };
}

/**
 * Of each layout. The interval spans the middle 80% of fits whose points and assumptions were moved
 * by as much as they may be wrong. Needs one point.
 */
export function predictions(
  setup: Setup,
  points: readonly TimedPoint[],
  layouts: readonly Layout[],
  reduction?: Reduction,
): Prediction[] {
  const model = fitModel(setup, points, reduction);
  const noise = seededNoise();
  const others = Array.from({ length: fits }, () => fitModel(setup, points, reduction, noise));
  return layouts.map((layout) => {
    const rates = others.map((other) => predictedRate(other, layout)).sort((a, b) => a - b);
    const imagesPerSec = predictedRate(model, layout);
    const [low = imagesPerSec, high = imagesPerSec] = [
      rates[Math.round(fits * 0.1)],
      rates[Math.round(fits * 0.9) - 1],
    ];
    return {
      ...layout,
      imagesPerSec,
      low: Math.min(low, imagesPerSec),
      high: Math.max(high, imagesPerSec),
    };
  });
}

/** Each point, predicted from all other ones. Empty with fewer than three points. */
export function leaveOneOut(setup: Setup, points: readonly TimedPoint[], reduction?: Reduction): LeftOut[] {
  if (points.length < 3) return [];
  return points.map((left) => {
    const same = ({ replicas, hosts }: Layout): boolean => replicas === left.replicas && hosts === left.hosts;
    const rest = points.filter((point) => point !== left);
    const allReduce = (setup.allReduce ?? []).filter((point) => !same(point));
    const model = fitModel({ ...setup, allReduce }, rest, reduction);
    const measured = (left.replicas * setup.batch) / left.seconds;
    const predicted = predictedRate(model, left);
    return {
      replicas: left.replicas,
      hosts: left.hosts,
      measured,
      predicted,
      error: predicted / measured - 1,
    };
  });
}
