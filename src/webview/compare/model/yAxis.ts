// The y axis of a comparison's chart.
import { axisRange, shareAxis } from '../../dashboard/charts/yRange.js';
import { significant } from '../../dashboard/model/format.js';
import { isShare, type CompareChart } from './curves.js';

/** What the y axis shows: of the values in sight. */
export function yRangeOf(chart: CompareChart, range: readonly [number, number]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { x, y } of chart.lines) {
    x.forEach((at, index) => {
      const value = y[index] ?? null;
      if (value === null || at < range[0] || at > range[1]) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    });
  }
  const ends = { values: low > high ? new Float64Array() : Float64Array.of(low, high) };
  const axis = isShare(chart.name) ? shareAxis : { fromZero: chart.name === 'images/s' };
  return axisRange([ends], { ...axis, log: false, hideOutliers: false }).range;
}

/** A tick of the y axis. */
export const yTick = (name: string, value: number): string =>
  isShare(name) ? `${+(value * 100).toFixed(1)}%` : value === 0 ? '0' : String(+significant(value, 3));
