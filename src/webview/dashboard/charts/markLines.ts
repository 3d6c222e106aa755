// Restarts, losses and stops as lines through a chart.
import type uPlot from 'uplot';
import type { Mark } from '../../protocol.js';
import type { Palette } from '../elements/theme.js';

/** Marks that are worth a line through every chart. */
const lined = new Set<Mark['kind']>(['restart', 'resume', 'rank-lost', 'hang', 'stop', 'checkpoint-failed']);

/** `xOf`: where a mark stands on the x axis; `range`: what the axis shows. */
export function drawMarkLines(
  plot: uPlot,
  {
    marks,
    xOf,
    range,
    palette,
  }: { marks: readonly Mark[]; xOf: (mark: Mark) => number; range: [number, number]; palette: Palette },
): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const mark of marks) {
    if (!lined.has(mark.kind)) continue;
    const at = xOf(mark);
    if (at < range[0] || at > range[1]) continue;
    ctx.strokeStyle =
      mark.kind === 'restart' || mark.kind === 'resume' || mark.kind === 'stop'
        ? palette.muted
        : palette.error;
    const left = Math.round(plot.valToPos(at, 'x', true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
