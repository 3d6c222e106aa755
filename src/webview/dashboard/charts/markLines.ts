// Restarts, losses and stops as lines through a chart, and where its run time leaves out a pause.
import type uPlot from 'uplot';
import type { Mark } from '../../protocol.js';
import { duration } from '../model/format.js';
import type { Cut } from '../model/model.js';
import type { Palette } from '../elements/colors.js';
import { fontSize } from './timeAxis.js';

/** Marks that are worth a line through every chart. */
const lined = new Set<Mark['kind']>(['restart', 'resume', 'rank-lost', 'hang', 'stop', 'checkpoint-failed']);

/**
 * `xOf`: where a mark stands on the x axis; `range`: what the axis shows; `cuts`: the pauses that it
 * leaves out.
 */
export function drawMarkLines(
  plot: uPlot,
  {
    marks,
    xOf,
    range,
    cuts,
    palette,
  }: {
    marks: readonly Mark[];
    xOf: (mark: Mark) => number;
    range: [number, number];
    cuts: readonly Cut[];
    palette: Palette;
  },
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
  drawCuts(plot, cuts, range, palette);
  ctx.restore();
}

/** A whole line where the time before it is missing, and for how long, where there is place. */
function drawCuts(plot: uPlot, cuts: readonly Cut[], range: [number, number], palette: Palette): void {
  const { ctx, bbox } = plot;
  const gap = 4 * devicePixelRatio;
  ctx.setLineDash([]);
  ctx.strokeStyle = ctx.fillStyle = palette.muted;
  ctx.font = `${(fontSize - 1) * devicePixelRatio}px ${palette.font}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'top';
  let free = bbox.left;
  for (const { at, seconds } of cuts) {
    if (at < range[0] || at > range[1]) continue;
    const left = Math.round(plot.valToPos(at, 'x', true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    const text = `paused ${duration(seconds)}`;
    const { width } = ctx.measureText(text);
    const right = bbox.left + bbox.width;
    const start = left + gap + width <= right ? left + gap : left - gap - width;
    if (start < free) continue;
    ctx.fillText(text, start, bbox.top);
    free = start + width + gap;
  }
}
