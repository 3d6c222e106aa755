// Successive halving against made rates: it finds the best, and separates nobody who is level.
import { expect, it } from 'vitest';
import {
  halve,
  levelWithBest,
  medianOf,
  roomFor,
  roundsOf,
  secondsEach,
} from '../../../../src/core/bakeoff/halving.js';
import { ratesOf, trainedFor } from '../../../../src/core/bakeoff/rates.js';
import type { StepLine } from '../../../../src/core/contracts/metricsSchema.js';

/** A generator of the same numbers each time (mulberry32), from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const step = (ms: number, images: number): StepLine =>
  ({ kind: 'step', step_ms: ms, images_per_sec: (1000 * images) / ms }) as StepLine;

it('keeps the better half, and those that cannot be told apart from its last one', () => {
  const rates: Record<string, number[]> = {
    best: [110, 111, 112],
    second: [100, 101, 102],
    close: [99, 100, 101],
    slow: [50, 51, 52],
    slower: [20, 21, 22],
  };
  const of = (name: string): ReturnType<typeof medianOf> => medianOf(rates[name] ?? []);
  const { kept, dropped } = halve(['slow', 'close', 'second', 'best'], of, { ran: 4, most: 9 });
  expect(kept).toEqual(['best', 'second', 'close']);
  expect(dropped).toEqual([{ one: 'slow', level: false }]);
  const short = halve(['slow', 'close', 'second', 'best'], of, { ran: 4, most: 2 });
  expect(short.kept).toEqual(['best', 'second']);
  expect(short.dropped).toContainEqual({ one: 'close', level: true });
  expect(levelWithBest(['close', 'second', 'slower'], of)).toEqual(['second', 'close']);
});

it('takes one that was dropped back, where longer runs of the others are slower', () => {
  const rates: Record<string, number[]> = { dropped: [74, 75, 76], a: [70, 71], b: [69, 70], c: [60, 61] };
  const of = (name: string): ReturnType<typeof medianOf> => medianOf(rates[name] ?? []);
  const { kept, dropped } = halve(['a', 'b', 'c', 'dropped'], of, { ran: 3, most: 2 });
  expect(kept).toEqual(['dropped', 'a']);
  expect(dropped.map(({ one }) => one)).toEqual(['b', 'c']);
});

it('finds the best or one within 3% of it, in 95 of 100 made fields with noise of 10%', () => {
  const random = numbers(7);
  let found = 0;
  for (let field = 0; field < 100; field++) {
    const truth = Array.from({ length: 16 }, () => 100 + 100 * random());
    const measured = truth.map((): number[] => []);
    let left = truth.map((_, at) => at);
    for (let round = 1; round <= roundsOf(truth.length); round++) {
      for (const at of left) {
        const parts = Math.min(16, 4 * round);
        for (let part = 0; part < parts; part++) {
          measured[at]?.push((truth[at] ?? 0) * (0.9 + 0.2 * random()));
        }
      }
      left = halve(left, (at) => medianOf(measured[at] ?? []), { ran: left.length, most: 16 }).kept;
    }
    if ((truth[left[0] ?? 0] ?? 0) >= 0.97 * Math.max(...truth)) found++;
  }
  expect(found).toBeGreaterThanOrEqual(95);
});

it('gives the time to fewer candidates the more a start takes', () => {
  expect(roundsOf(16)).toBe(4);
  expect(roundsOf(1)).toBe(1);
  expect(secondsEach(100, 2, 5, 3)).toBe(7);
  expect(secondsEach(10, 2, 50, 3)).toBe(1);
  expect(roomFor(100, 1)).toBeGreaterThan(roomFor(100, 5));
  expect(roomFor(0, 5)).toBe(2);
});

it('takes images over time, which steps that alternate do not hide', () => {
  // Every other step waits: the median step would say 10 ms for 8 images.
  const steps = Array.from({ length: 100 }, (_, at) => step(at % 2 === 0 ? 10 : 30, 8));
  const found = ratesOf(steps);
  expect(found?.steps).toBe(80);
  expect(found?.seconds).toBeCloseTo(1.6);
  expect(medianOf(found?.rates ?? []).median).toBeCloseTo(400, -1);
  expect(ratesOf(steps.slice(0, 5))).toBeUndefined();
});

it('ends a run after its time and enough steps', () => {
  const quick = trainedFor(1);
  const steps = Array.from({ length: 130 }, () => step(10, 8));
  expect(quick(steps.slice(0, 100))).toBe(false);
  expect(quick(steps)).toBe(true);
  const slow = trainedFor(1);
  expect(slow(Array.from({ length: 3 }, () => step(5000, 8)))).toBe(false);
  expect(slow(Array.from({ length: 7 }, () => step(5000, 8)))).toBe(true);
});
