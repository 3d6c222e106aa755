import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Series } from '../../../src/core/metrics/series.js';

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 500 });

describe('Series', () => {
  it('never holds more points than its capacity, and loses neither values nor extremes', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 2, max: 40 }), (numbers, capacity) => {
        const series = new Series(capacity);
        numbers.forEach((value, index) => {
          series.push(index + 1, value);
          expect(series.length).toBeLessThanOrEqual(capacity);
        });
        const points = series.toArray();
        expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(numbers.length);
        expect(Math.min(...points.map(({ min }) => min))).toBe(Math.min(...numbers));
        expect(Math.max(...points.map(({ max }) => max))).toBe(Math.max(...numbers));
        expect(series.last).toMatchObject({ x: numbers.length, last: numbers.at(-1) });
        let from = 0;
        for (const { x, mean, count } of points) {
          const part = numbers.slice(from, from + count);
          expect(mean).toBeCloseTo(part.reduce((sum, value) => sum + value, 0) / count, 3);
          from += count;
          expect(x).toBe(from);
        }
      }),
    );
  });

  it('keeps every value while there is room', () => {
    const series = new Series(8);
    for (let x = 1; x <= 8; x++) series.push(x, x * x);
    expect(series.toArray().map(({ mean }) => mean)).toEqual([1, 4, 9, 16, 25, 36, 49, 64]);
    series.push(9, 81);
    expect(series.toArray().map(({ x }) => x)).toEqual([2, 4, 6, 8, 9]);
  });

  it('drops what a newer generation repeats', () => {
    const series = new Series(100);
    for (let x = 10; x <= 50; x += 10) series.push(x, x);
    series.truncate(30);
    series.push(30, 3);
    expect(series.toArray().map(({ x, mean }) => [x, mean])).toEqual([
      [10, 10],
      [20, 20],
      [30, 3],
    ]);
    series.truncate(1000);
    expect(series.length).toBe(3);
  });

  it('needs room for two', () => {
    expect(() => new Series(1)).toThrow(RangeError);
  });
});
