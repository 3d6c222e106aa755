// From the lines of a run to images/s, and when a run has trained long enough.
import type { StartLine, StepLine } from '../contracts/metricsSchema.js';

/** Parts into which a run is cut. Each is so long that the noise of single steps averages out. */
const parts = 16;
/** Steps at the beginning that are left out, as a part of all: they hold the warming up. */
const warmingUp = 0.2;
/** After the warming up. */
const fewestSteps = 5;
/** Of a run that is far too slow; and seconds that these steps take, for short ones are noise. */
const fewestOfSlow = 3;
const shortestOfSlow = 0.5;
/** A run with less than this part of the best images/s is far too slow. */
const farTooSlow = 0.6;
const bytesOfGradient = 4;

const settledOf = (steps: readonly StepLine[]): readonly StepLine[] =>
  steps.slice(Math.max(1, Math.ceil(steps.length * warmingUp)));

/**
 * Of one run: images/s of each part, steps and seconds that count. Undefined with too few steps.
 * `best`: images/s of the best so far, as for `trainedFor`.
 */
export function ratesOf(
  steps: readonly StepLine[],
  best = 0,
): { rates: number[]; steps: number; seconds: number } | undefined {
  const settled = settledOf(steps);
  if (settled.length < (isFarTooSlow(steps, best) ? fewestOfSlow : fewestSteps)) return undefined;
  const count = Math.min(parts, settled.length);
  const rates = Array.from({ length: count }, (_, at) => {
    const from = Math.floor((at * settled.length) / count);
    return rateOf(settled.slice(from, Math.floor(((at + 1) * settled.length) / count)));
  });
  return { rates, steps: settled.length, seconds: secondsOf(settled) };
}

/** All images over the time of their steps. */
function rateOf(steps: readonly StepLine[]): number {
  const images = steps.reduce((sum, line) => sum + (line.images_per_sec * line.step_ms) / 1000, 0);
  return images / secondsOf(steps);
}

const secondsOf = (steps: readonly StepLine[]): number =>
  steps.reduce((sum, { step_ms }) => sum + step_ms, 0) / 1000;

/** Whether a few steps suffice to say that the run is far from `best`, in images/s. */
function isFarTooSlow(steps: readonly StepLine[], best: number): boolean {
  const settled = settledOf(steps);
  const isEnough = settled.length >= fewestOfSlow && secondsOf(settled) >= shortestOfSlow;
  return isEnough && rateOf(settled) < farTooSlow * best;
}

/**
 * For one run: whether it has trained for so many seconds, beside the warming up, or is far slower
 * than `best`, the images/s of the best so far, so that the time is better spent on others.
 */
export function trainedFor(seconds: number, best = 0): (steps: readonly StepLine[]) => boolean {
  let [seen, trained] = [0, 0];
  return (steps) => {
    for (; seen < steps.length; seen++) trained += (steps[seen]?.step_ms ?? 0) / 1000;
    if (isFarTooSlow(steps, best)) return true;
    return trained * (1 - warmingUp) >= seconds && steps.length * (1 - warmingUp) > fewestSteps;
  };
}

/** Bytes of all gradients of the training. */
export const gradientBytesOf = ({ parameters }: StartLine): number => parameters * bytesOfGradient;
