// Arrows at the edge of a chart, where a value lies outside its y axis.
import type uPlot from 'uplot';

/** One curve: where its values stand, and what they are. */
export interface PointsAt {
  color: string;
  x: readonly number[];
  y: readonly (number | null)[];
}

/** Half the width of an arrow, and its height, in pixels of the page. */
const size = 4;

/** One for each place and edge, in the colour of the first curve that is outside there. */
export function drawArrows(plot: uPlot, curves: readonly PointsAt[]): void {
  const { ctx, bbox } = plot;
  const { min: low = -Infinity, max: high = Infinity } = plot.scales['y'] ?? {};
  const { min: from = -Infinity, max: to = Infinity } = plot.scales['x'] ?? {};
  const arrow = size * devicePixelRatio;
  const taken = new Set<string>();
  ctx.save();
  for (const { color, x, y } of curves) {
    const path = new Path2D();
    x.forEach((at, index) => {
      const value = y[index] ?? null;
      if (value === null || at < from || at > to || (value >= low && value <= high)) return;
      const isAbove = value > high;
      const left = plot.valToPos(at, 'x', true);
      const place = `${Math.round(left / arrow)} ${isAbove}`;
      if (taken.has(place)) return;
      taken.add(place);
      const tip = isAbove ? bbox.top + 1 : bbox.top + bbox.height - 1;
      const foot = isAbove ? tip + arrow : tip - arrow;
      path.moveTo(left, tip);
      path.lineTo(left - arrow, foot);
      path.lineTo(left + arrow, foot);
      path.closePath();
    });
    ctx.fillStyle = color;
    ctx.fill(path);
  }
  ctx.restore();
}
