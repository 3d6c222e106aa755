import { describe, expect, it } from 'vitest';
import { axisRange, type AxisWish } from '../../../src/webview/dashboard/charts/yRange.js';

const wish: AxisWish = { fromZero: false, log: false, hideOutliers: true };
const range = (values: number[], change: Partial<AxisWish> = {}): [number, number] =>
  axisRange(Float64Array.from(values), { ...wish, ...change }).range;
const falling = Array.from({ length: 60 }, (_, step) => 2 * Math.exp(-step / 20));

describe('the y axis', () => {
  it('is not flattened by one value far away, and says that it is hidden', () => {
    const values = [...falling, 177];
    const {
      range: [low, high],
      hidden,
    } = axisRange(Float64Array.from(values), wish);
    expect(hidden).toBe(1);
    expect(high).toBeLessThan(3);
    expect(low).toBeLessThan(Math.min(...falling));
    const all = axisRange(Float64Array.from(values), { ...wish, hideOutliers: false });
    expect(all.hidden).toBe(0);
    expect(all.range[1]).toBeGreaterThan(177);
  });

  it('shows everything of a curve that falls, and of few values', () => {
    expect(axisRange(Float64Array.from(falling), wish).hidden).toBe(0);
    expect(axisRange(Float64Array.from([1, 1.1, 177]), wish).hidden).toBe(0);
    expect(axisRange(Float64Array.from({ length: 50 }, () => 3).fill(4, 0, 1), wish).hidden).toBe(0);
  });

  it('hides nothing at the side where nothing is far away', () => {
    const {
      range: [low],
      hidden,
    } = axisRange(Float64Array.from([...falling, 177]), wish);
    expect(low).toBeLessThan(falling.at(-1)!);
    expect(hidden).toBe(1);
  });

  it('counts nothing as hidden that the zero brings into sight', () => {
    const steady = Array.from({ length: 60 }, (_, row) => (row === 5 ? 200 : 500 + (row % 7)));
    expect(axisRange(Float64Array.from(steady), { ...wish, fromZero: true }).hidden).toBe(0);
    expect(axisRange(Float64Array.from(steady), wish).hidden).toBe(1);
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
