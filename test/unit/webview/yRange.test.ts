import { describe, expect, it } from 'vitest';
import {
  axisRange,
  shareAxis,
  type AxisRange,
  type AxisWish,
} from '../../../src/webview/dashboard/charts/yRange.js';

const wish: AxisWish = { fromZero: false, log: false, hideOutliers: true };
const one = (values: number[], asked: AxisWish): AxisRange =>
  axisRange([{ values: Float64Array.from(values) }], asked);
const range = (values: number[], change: Partial<AxisWish> = {}): [number, number] =>
  one(values, { ...wish, ...change }).range;
const falling = Array.from({ length: 60 }, (_, step) => 2 * Math.exp(-step / 20));

describe('the y axis', () => {
  it('is not flattened by one value far away, and says that it is hidden', () => {
    const values = [...falling, 177];
    const {
      range: [low, high],
      hidden,
    } = one(values, wish);
    expect(hidden).toBe(1);
    expect(high).toBeLessThan(3);
    expect(low).toBeLessThan(Math.min(...falling));
    const all = one(values, { ...wish, hideOutliers: false });
    expect(all.hidden).toBe(0);
    expect(all.range[1]).toBeGreaterThan(177);
  });

  it('shows everything of a curve that falls, and of few values', () => {
    expect(one(falling, wish).hidden).toBe(0);
    expect(one([1, 1.1, 177], wish).hidden).toBe(0);
    expect(one(Array<number>(50).fill(3).fill(4, 0, 1), wish).hidden).toBe(0);
  });

  it('judges each curve by itself, and shows evaluations at its ends', () => {
    const line = { values: Float64Array.from(falling) };
    const evaluations = (...values: number[]): AxisRange =>
      axisRange([line, { values: Float64Array.from(values), keepsEnds: true }], wish);
    expect(evaluations(11.36).hidden).toBe(0);
    expect(evaluations(11.36).range[1]).toBeGreaterThan(11.36);
    const few = falling.slice(0, 12);
    expect(evaluations(177, ...few).hidden).toBe(0);
    expect(evaluations(...few, 177).hidden).toBe(0);
    expect(evaluations(...few, 177, 1).hidden).toBe(1);
    expect(axisRange([line, line, { values: Float64Array.of(9, 9.5) }], wish).hidden).toBe(0);
  });

  it('of shares ends at 1', () => {
    expect(range([0.2, 0.995], { ...shareAxis })).toEqual([0, 1]);
    expect(range([1, 1], { ...shareAxis })[1]).toBe(1);
    expect(range([0.2, 0.4], { ...shareAxis })[1]).toBeLessThan(0.5);
  });

  it('hides nothing at the side where nothing is far away', () => {
    const {
      range: [low],
      hidden,
    } = one([...falling, 177], wish);
    expect(low).toBeLessThan(falling.at(-1)!);
    expect(hidden).toBe(1);
  });

  it('counts nothing as hidden that the zero brings into sight', () => {
    const steady = Array.from({ length: 60 }, (_, row) => (row === 5 ? 200 : 500 + (row % 7)));
    expect(one(steady, { ...wish, fromZero: true }).hidden).toBe(0);
    expect(one(steady, wish).hidden).toBe(1);
  });

  it('begins at zero where that is asked for, but near the top where all is there', () => {
    expect(range([3, 5], { fromZero: true })[0]).toBe(0);
    expect(range([0.9, 0.95], { fromZero: true, nearTop: 0.8 })[0]).toBeGreaterThan(0.85);
    expect(range([0.9, 1], { fromZero: true, nearTop: 0.8 })[1]).toBe(1);
    expect(range([0.5, 0.95], { fromZero: true, nearTop: 0.8 })[0]).toBe(0);
  });

  it('of a logarithmic chart begins above zero', () => {
    expect(range([0, 0.1, 10], { log: true })[0]).toBeCloseTo(0.09, 6);
    expect(range([0, 0], { log: true })[0]).toBeGreaterThan(0);
  });

  it('has a range without values, and of one', () => {
    expect(range([])).toEqual([0, 1]);
    const [low, high] = range([5]);
    expect(low < 5 && high > 5).toBe(true);
  });
});
