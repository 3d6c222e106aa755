import { expect, it } from 'vitest';
import { ChartData } from '../../../src/webview/dashboard/charts/chartData.js';
import { ChartGroup, type Drawable } from '../../../src/webview/dashboard/charts/chartGroup.js';
import { PageModel } from '../../../src/webview/dashboard/model/model.js';
import type { Palette } from '../../../src/webview/dashboard/elements/colors.js';

/** A group of charts of which each counts how often it was drawn. */
function groupOf(count: number): { group: ChartGroup; drawn: number[]; charts: { pointed: boolean }[] } {
  const model = new PageModel();
  const nothing = (): void => undefined;
  const group = new ChartGroup(new ChartData(model, 0), model, {} as Palette, nothing, nothing);
  const drawn = Array<number>(count).fill(0);
  const charts = drawn.map((_, at): Drawable & { pointed: boolean } => ({
    visible: true,
    pointed: false,
    draw: () => {
      drawn[at]!++;
    },
    redraw: nothing,
    moveCursor: nothing,
  }));
  for (const chart of charts) group.add(chart);
  return { group, drawn, charts };
}

it('draws one chart a frame, each ten times a second at most', () => {
  const { group, drawn } = groupOf(3);
  expect(group.draw(1000)).toBe(0);
  expect(drawn).toEqual([1, 0, 0]);
  group.draw(1016);
  group.draw(1032);
  expect(drawn).toEqual([1, 1, 1]);
  group.invalidate();
  expect(group.draw(1050)).toBe(50);
  expect(drawn).toEqual([1, 1, 1]);
});

it('draws all charts in one frame while the crosshair is on them', () => {
  const { group, drawn, charts } = groupOf(3);
  group.draw(1000);
  charts[1]!.pointed = true;
  group.invalidate();
  expect(group.draw(1016)).toBe(84);
  expect(drawn).toEqual([1, 0, 0]);
  expect(group.draw(1100)).toBeUndefined();
  expect(drawn).toEqual([2, 1, 1]);
});
