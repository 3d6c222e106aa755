// A model of a step's time over replicas and hosts, and how it is fitted to measured points. The fit
// is a compromise between the points and what is assumed of links beforehand, so that it also works
// where there are few points.
import { allReduceSeconds, replicasOnMachine, type Layout, type Reduction } from './links.js';
import { minimize } from './minimize.js';
import { stragglerFactor } from './stragglers.js';

/** One measured point. Seconds are those of a step, medians. */
export interface TimedPoint extends Layout {
  seconds: number;
  /** Without the waits, on one replica; left out where nobody told. */
  computeSeconds?: number | undefined;
}

/** What is known before any point. */
export interface Setup {
  /** Of one replica, images of an update. */
  batch: number;
  gradientBytes: number;
  /** Computing times of single steps on one replica: for stragglers. Empty: there are none. */
  samples: readonly number[];
  /** Threads of a replica over the cores of a machine; 0 where the cores are not known. */
  coresTaken: number;
  /** Of the link between hosts, as far as it is known: bits and seconds. */
  between?: { bitsPerSecond: number; latency: number } | undefined;
  /** Of one all-reduce alone, measured: in seconds. */
  allReduce?: readonly TimedPoint[];
}

/** What a fit found. Times in seconds. */
export interface ScalingModel {
  setup: Setup;
  reduction: Reduction;
  /** Of one replica's step alone. */
  compute: number;
  inside: { alpha: number; beta: number };
  between: { alpha: number; beta: number };
  /** Which part of the backward pass (two thirds of a step) hides communication: 0 to 1. */
  overlap: number;
}

/** Logarithms of compute, of alpha and beta inside and between; then the overlap, as a logit. */
type Vector = readonly number[];

const usual = { inside: { alpha: 1e-5, beta: 1 / 5e9 }, between: { alpha: 5e-5, beta: 8 / 10e9 } };
/** Standard deviations of logarithms: how little is known beforehand. */
const deviations = { alpha: 1.5, betaInside: 1.5, betaUnknown: 1.5, betaKnown: 0.25, overlap: 1.5 };
/** Of a measured point, as a fraction: points are not more exact than that. */
const pointDeviation = 0.02;
/** Of computing by one replica: what it hands to the network in the meantime is in it too. */
const computeDeviation = 0.3;
/** Of a step, in which gradients come to be. */
const backwardPart = 2 / 3;

/** What is assumed, as a vector with the compute time left out. */
function assumptions({ between }: Setup): { mean: number[]; deviation: number[] } {
  const beta = between ? 8 / between.bitsPerSecond : usual.between.beta;
  const alpha = between ? Math.max(between.latency, 1e-6) : usual.between.alpha;
  return {
    mean: [
      ...[usual.inside.alpha, usual.inside.beta].map(Math.log),
      ...[alpha, beta].map(Math.log),
      0, // half of the backward pass
    ],
    deviation: [
      ...[deviations.alpha, deviations.betaInside, deviations.alpha],
      between ? deviations.betaKnown : deviations.betaUnknown,
      deviations.overlap,
    ],
  };
}

function modelOf(setup: Setup, reduction: Reduction, vector: Vector): ScalingModel {
  const [compute = 0, ai = 0, bi = 0, ao = 0, bo = 0, overlap = 0] = vector;
  return {
    setup,
    reduction,
    compute: Math.exp(compute),
    inside: { alpha: Math.exp(ai), beta: Math.exp(bi) },
    between: { alpha: Math.exp(ao), beta: Math.exp(bo) },
    overlap: 1 / (1 + Math.exp(-overlap)),
  };
}

/** Seconds of a step that one replica computes. */
const computeOfOne = ({ setup, compute }: ScalingModel, layout: Layout): number =>
  compute * Math.max(1, replicasOnMachine(layout) * setup.coresTaken);

/** The same of the slowest replica. */
const computeSeconds = (model: ScalingModel, layout: Layout): number =>
  computeOfOne(model, layout) * stragglerFactor(model.setup.samples, layout.replicas);

/** Seconds of an all-reduce alone, whether or not a backward pass hides it. */
const reductionSeconds = (model: ScalingModel, layout: Layout): number =>
  allReduceSeconds(model.reduction, layout, model.setup.gradientBytes, model);

/** Seconds of a step. */
export function stepSeconds(model: ScalingModel, layout: Layout): number {
  const computed = computeSeconds(model, layout);
  const hidden = model.overlap * backwardPart * computed;
  return computed + Math.max(0, reductionSeconds(model, layout) - hidden);
}

/** Images/s of all replicas together. */
export const predictedRate = (model: ScalingModel, layout: Layout): number =>
  (layout.replicas * model.setup.batch) / stepSeconds(model, layout);

/** What moves points and assumptions: nothing in the fit itself, chance in the interval. */
export interface Noise {
  /** Of a standard normal distribution. */
  next(): number;
}

/**
 * The model that the points make likeliest. With `noise`, points and assumptions are moved by as
 * much as they may be wrong. `reduction`: the kind that ran, where it is known; else the one that
 * fits best.
 */
export function fitModel(
  setup: Setup,
  points: readonly TimedPoint[],
  reduction?: Reduction,
  noise?: Noise,
): ScalingModel {
  const { mean, deviation } = assumptions(setup);
  const moved = (value: number, by: number): number => value * Math.exp((noise?.next() ?? 0) * by);
  const seconds = points.map((point) => moved(point.seconds, pointDeviation));
  const computed = points.map(({ computeSeconds: own }) => own && moved(own, computeDeviation));
  const sums = (setup.allReduce ?? []).filter(({ replicas }) => replicas > 1);
  const summed = sums.map((point) => moved(point.seconds, 5 * pointDeviation));
  const assumed = mean.map((value, at) => value + (noise?.next() ?? 0) * (deviation[at] ?? 0));
  const misfit = (kind: Reduction, vector: Vector): number => {
    const model = modelOf(setup, kind, vector);
    let sum = 0;
    points.forEach((point, at) => {
      sum += (Math.log(stepSeconds(model, point) / (seconds[at] ?? 1)) / pointDeviation) ** 2;
      const own = computed[at];
      if (own) sum += (Math.log(computeOfOne(model, point) / own) / computeDeviation) ** 2;
    });
    sums.forEach((point, at) => {
      const off = Math.log(reductionSeconds(model, point) / (summed[at] ?? 1));
      sum += (off / (5 * pointDeviation)) ** 2;
    });
    assumed.forEach((value, at) => {
      sum += (((vector[at + 1] ?? 0) - value) / (deviation[at] ?? 1)) ** 2;
    });
    return sum;
  };
  const least = Math.min(...points.map((point) => point.seconds));
  const kinds: readonly Reduction[] =
    reduction === undefined ? ['ring', 'tree', 'hierarchical'] : [reduction];
  const found = kinds.map((kind) => {
    const start = [Math.log(least), ...assumed];
    const best = minimize((vector) => misfit(kind, vector), start);
    return { kind, ...best };
  });
  const best = found.reduce((a, b) => (b.value < a.value ? b : a));
  return modelOf(setup, best.kind, best.at);
}
