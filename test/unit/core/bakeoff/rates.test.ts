// When a short run has trained long enough, and what is measured of it.
import { expect, it } from 'vitest';
import { ratesOf, trainedFor } from '../../../../src/core/bakeoff/rates.js';
import type { StepLine } from '../../../../src/core/contracts/metricsSchema.js';

/** Steps of 32 images: the first takes a second more. */
const stepsOf = (count: number, milliseconds: number): StepLine[] =>
  Array.from({ length: count }, (_, at) => {
    const step_ms = milliseconds + (at === 0 ? 1000 : 0);
    return { step: at + 1, step_ms, images_per_sec: 32_000 / step_ms } as StepLine;
  });

it('needs five steps after the warming up, and the time', () => {
  const enough = trainedFor(2);
  const seen = [3, 6, 10, 24, 26].map((count) => enough(stepsOf(count, 100)));
  // The first step takes 1.1 s, so 24 steps take 3.4 s, of which four fifths count.
  expect(seen).toEqual([false, false, false, true, true]);
  expect(trainedFor(0.1)(stepsOf(6, 100))).toBe(false);
  expect(trainedFor(0.1)(stepsOf(7, 100))).toBe(true);
  expect(ratesOf(stepsOf(6, 100))).toBeUndefined();
  expect(ratesOf(stepsOf(7, 100))?.rates).toEqual([320, 320, 320, 320, 320]);
});

it('ends after three steps where the run is far slower than the best so far', () => {
  // 32 images/s.
  const slow = [3, 4, 5].map((count) => trainedFor(60, 60)(stepsOf(count, 1000)));
  expect(slow).toEqual([false, true, true]);
  expect(ratesOf(stepsOf(4, 1000), 60)).toEqual({ rates: [32, 32, 32], steps: 3, seconds: 3 });
  expect(ratesOf(stepsOf(4, 1000))).toBeUndefined();
  expect(trainedFor(60, 50)(stepsOf(8, 1000))).toBe(false);
  // Steps of a millisecond: half a second of them says something, three do not.
  expect(trainedFor(60, 1e6)(stepsOf(4, 1))).toBe(false);
  expect(ratesOf(stepsOf(4, 1), 1e6)).toBeUndefined();
  expect(trainedFor(60, 1e6)(stepsOf(700, 1))).toBe(true);
});
