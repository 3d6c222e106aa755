import { expect, it } from 'vitest';
import type { CompareChart } from '../../../src/webview/compare/model/curves.js';
import { yRangeOf } from '../../../src/webview/compare/model/yAxis.js';

const chart = (name: string, ...y: number[]): CompareChart => ({
  name,
  title: name,
  own: false,
  lines: [{ row: 0, label: 'a', color: 'blue', dash: [], x: y.map((_, index) => index), y }],
});
const range = (name: string, ...y: number[]): [number, number] => yRangeOf(chart(name, ...y), [0, y.length]);

it('ends at 100% in charts of shares, and begins at zero unless all is near the top', () => {
  expect(range('top-5', 1, 1, 1)).toEqual([0.9, 1]);
  expect(range('top-1', 0.2, 0.995)).toEqual([0, 1]);
  expect(range('top-1', 0.9, 0.95)[0]).toBeGreaterThan(0.85);
  expect(range('images/s', 900, 1000)[1]).toBeGreaterThan(1000);
  expect(range('accuracy of mine', 0.5, 1)[1]).toBeGreaterThan(1);
});
