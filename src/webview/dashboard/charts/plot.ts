// One chart on a canvas: uPlot with the group's axis, crosshair and zoom, and what uPlot does not
// draw by itself.
import uPlot from 'uplot';
import type { ChartGroup } from './chartGroup.js';
import type { ChartSpec, LineSpec } from './chartSpecs.js';
import { axisTime } from '../model/format.js';
import { drawMarkLines } from './markLines.js';
import { mixed, withAlpha } from './tints.js';
import { fontSize, tickSteps } from './timeAxis.js';

/** uPlot declares its scales' kinds as an enum that exists for the compiler only. */
const logarithmic = 3 as unknown as uPlot.Scale.Distr;

export class Plot {
  private plot: uPlot;

  constructor(
    private readonly host: HTMLElement,
    private readonly spec: ChartSpec,
    private readonly group: ChartGroup,
    private readonly onCursor: (row: number | null) => void,
  ) {
    this.plot = this.make();
  }

  /** What cannot be changed in place has changed: the kind of scale, or which lines there are. */
  rebuild(): void {
    this.plot.destroy();
    this.plot = this.make();
  }

  draw(): void {
    this.plot.setData(this.columns());
  }

  redraw(): void {
    const [min, max] = this.group.range;
    this.plot.setScale('x', { min, max });
    this.plot.redraw(false, true);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width > 0 && height > 0) this.plot.setSize({ width, height });
  }

  moveCursor(seconds: number | undefined): void {
    if (seconds === undefined) this.plot.setCursor({ left: -10, top: -10 });
    else this.plot.setCursor({ left: this.plot.valToPos(seconds, 'x'), top: 0 });
  }

  destroy(): void {
    this.plot.destroy();
  }

  private get smooth(): boolean {
    return this.group.smoothing > 0;
  }

  private columns(): uPlot.AlignedData {
    const { data } = this.group;
    if (this.spec.stacked) return [data.x, data.stack[2], data.stack[1], data.stack[0]];
    const band = this.spec.band?.map((name) => data.steps[name]) ?? [];
    const lines = this.spec.lines.flatMap(({ key, smoothed }) =>
      smoothed && this.smooth ? [data.line(key), data.smoothed(key)] : [data.line(key)],
    );
    return [data.x, ...band, ...lines];
  }

  private series(): uPlot.Series[] {
    const color = (line: LineSpec) => () => this.group.palette.charts[line.color];
    const points = { show: false };
    /** A line needs two points; the first of a run would not be seen. */
    const alone: uPlot.Series.Points = { size: 5, show: (_plot, _series, first, last) => first === last };
    if (this.spec.stacked) {
      return [...this.spec.lines].reverse().map((line) => ({
        stroke: color(line),
        // Opaque, so that each layer may be filled down to zero; cutting them apart costs more than
        // all the rest.
        fill: () => mixed(this.group.palette.charts[line.color], 0.35, this.group.palette.card),
        width: 1,
        points,
      }));
    }
    const bounds = this.spec.band?.map((): uPlot.Series => ({ width: 0, points })) ?? [];
    const lines = this.spec.lines.flatMap((line): uPlot.Series[] => {
      const strong: uPlot.Series = { stroke: color(line), width: 1.5, points: alone };
      const faint: uPlot.Series = {
        stroke: () => withAlpha(this.group.palette.charts[line.color], 0.35),
        width: 1,
        points,
      };
      return line.smoothed && this.smooth ? [faint, strong] : [strong];
    });
    return [...bounds, ...lines];
  }

  private bands(): uPlot.Band[] {
    const first = this.spec.lines[0];
    if (!this.spec.band || this.spec.stacked || !first) return [];
    return [{ series: [2, 1], fill: () => withAlpha(this.group.palette.charts[first.color], 0.16) }];
  }

  private make(): uPlot {
    const { group, spec } = this;
    const log = spec.canLog === true && group.logLoss;
    const axis = {
      stroke: () => group.palette.muted,
      font: `${fontSize}px ${group.palette.font}`,
      grid: { stroke: () => withAlpha(group.palette.foreground, 0.14), width: 1 },
      ticks: { show: false },
    };
    const options: uPlot.Options = {
      width: Math.max(50, this.host.clientWidth),
      height: Math.max(50, this.host.clientHeight),
      padding: [8, 12, 0, 0],
      legend: { show: false },
      series: [{}, ...this.series()],
      bands: this.bands(),
      scales: {
        x: { time: false, range: () => group.range },
        y: {
          ...(log ? { distr: logarithmic } : {}),
          range: (_plot, min, max) => this.yRange(min, max, log),
        },
      },
      axes: [
        {
          ...axis,
          size: 24,
          gap: 4,
          space: 64,
          incrs: tickSteps,
          values: (_plot, splits, _axis, _space, step) => splits.map((value) => axisTime(value, step)),
        },
        {
          ...axis,
          gap: 4,
          space: 28,
          size: (_plot, values) =>
            12 + 6.5 * Math.max(3, ...((values as string[] | null) ?? []).map(({ length }) => length)),
          values: (_plot, splits) =>
            splits.map((value) => ((value as number | null) === null ? '' : spec.axis(value))),
        },
      ],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: {
          dblclick: () => () => {
            group.setZoom(undefined);
            return null;
          },
        },
        sync: {
          key: group.syncKey,
          setSeries: false,
          scales: ['x', null],
          // The others need not draw the selection too; the zoom reaches them by the group.
          filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
        },
      },
      hooks: {
        setSelect: [
          (plot) => {
            this.select(plot);
          },
        ],
        setCursor: [
          (plot) => {
            this.onCursor((plot.cursor.left ?? -1) < 0 ? null : (plot.cursor.idx ?? null));
          },
        ],
        drawAxes: [
          (plot) => {
            drawMarkLines(plot, this.markView);
          },
        ],
        draw: [
          (plot) => {
            this.drawPoints(plot);
          },
        ],
      },
    };
    return new uPlot(options, this.columns(), this.host);
  }

  private select(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const low = plot.posToVal(left, 'x');
    const high = plot.posToVal(left + width, 'x');
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.group.setZoom([low, high]);
  }

  /**
   * uPlot's own range of the lines, widened by the evaluations in sight, which it does not know.
   */
  private yRange(lineMin: number | null, lineMax: number | null, log: boolean): [number, number] {
    const { model, range, data } = this.group;
    let min = lineMin ?? Infinity;
    let max = lineMax ?? -Infinity;
    for (const evaluation of model.evaluations) {
      const at = evaluation.time - data.origin;
      if (at < range[0] || at > range[1]) continue;
      for (const { value } of this.spec.points) {
        const height = value(evaluation);
        if (height === null) continue;
        min = Math.min(min, height);
        max = Math.max(max, height);
      }
    }
    if (min > max) return [0, 1];
    if (log) {
      const low = min > 0 ? min : Math.max(max, 1e-6) / 1e4;
      return [low * 0.9, Math.max(max, low) * 1.1];
    }
    if (this.spec.fromZero) min = 0;
    const room = max > min ? (max - min) * 0.06 : Math.abs(max) * 0.1 || 1;
    return [this.spec.fromZero ? 0 : min - room, max + room];
  }

  private get markView(): Parameters<typeof drawMarkLines>[1] {
    const { model, data, range, palette } = this.group;
    return { marks: model.marks, origin: data.origin, range, palette };
  }

  private drawPoints(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const { palette, model, data } = this.group;
    if (this.spec.points.length === 0 || model.evaluations.length === 0) return;
    const radius = (model.evaluations.length > 80 ? 1.5 : 2.5) * devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - radius, bbox.top, bbox.width + 2 * radius, bbox.height);
    ctx.clip();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (const { color, value } of this.spec.points) {
      ctx.strokeStyle = ctx.fillStyle = palette.charts[color];
      const line = new Path2D();
      const dots = new Path2D();
      let begun = false;
      for (const evaluation of model.evaluations) {
        const height = value(evaluation);
        if (height === null) continue;
        const left = plot.valToPos(evaluation.time - data.origin, 'x', true);
        const top = plot.valToPos(height, 'y', true);
        if (begun) line.lineTo(left, top);
        else line.moveTo(left, top);
        begun = true;
        dots.moveTo(left + radius, top);
        dots.arc(left, top, radius, 0, 2 * Math.PI);
      }
      ctx.stroke(line);
      ctx.fill(dots);
    }
    ctx.restore();
  }
}
