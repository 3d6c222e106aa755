// One chart on a canvas: uPlot with the group's axis, crosshair and zoom, and what uPlot does not
// draw by itself.
import uPlot from 'uplot';
import type { ChartGroup } from './chartGroup.js';
import { shownPoints, type ChartSpec, type LineSpec } from './chartSpecs.js';
import { lastAtMost, lastBefore } from '../elements/sampling.js';
import { drawMarkLines } from './markLines.js';
import { mixed, rawAlpha, withAlpha } from './tints.js';
import { fontSize, plotTicks } from './timeAxis.js';
import { drawArrows, type PointsAt } from './outlierArrows.js';
import { axisRange, type CurveInSight } from './yRange.js';

/** uPlot declares its scales' kinds as an enum that exists for the compiler only. */
const logarithmic = 3 as unknown as uPlot.Scale.Distr;

export class Plot {
  private plot: uPlot;
  private hidden = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly spec: ChartSpec,
    private readonly group: ChartGroup,
    private readonly onCursor: (row: number | null) => void,
    /** Called with how many values lie outside the y axis when their number changes. */
    private readonly onHidden: (count: number) => void,
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

  /** What the y axis shows. */
  get yShown(): [number, number] {
    const { min = 0, max = 1 } = this.plot.scales['y'] ?? {};
    return [min, max];
  }

  /** `x`: where on the x axis. */
  moveCursor(x: number | undefined): void {
    if (x === undefined) this.plot.setCursor({ left: -10, top: -10 });
    else this.plot.setCursor({ left: this.plot.valToPos(x, 'x'), top: 0 });
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
        stroke: () => withAlpha(this.group.palette.charts[line.color], rawAlpha(this.group.palette)),
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
          range: () => this.yRange(log),
        },
      },
      axes: [
        {
          ...axis,
          size: 24,
          gap: 4,
          space: 64,
          ...plotTicks(group.data.axis, () => group.range),
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
            if (this.hidden > 0) this.drawHidden(plot);
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

  private yRange(log: boolean): [number, number] {
    const { canHideOutliers = false, fromZero, nearTop } = this.spec;
    const hideOutliers = canHideOutliers && !this.group.allValues;
    const wish = { fromZero, log, hideOutliers, ...(nearTop === undefined ? {} : { nearTop }) };
    const { range, hidden } = axisRange(this.curvesInSight(), wish);
    if (hidden !== this.hidden) {
      this.hidden = hidden;
      this.onHidden(hidden);
    }
    return range;
  }

  private curvesInSight(): CurveInSight[] {
    const { model, range, data } = this.group;
    const first = lastBefore(data.x, range[0]) + 1;
    const end = lastAtMost(data.x, range[1]) + 1;
    const lines = this.heights().map((column) => ({ values: known(column, first, end) }));
    const points = shownPoints(this.spec, model);
    if (points.length === 0) return lines;
    const evaluated = model.evaluations.filter((evaluation) => {
      const at = data.xOf(evaluation);
      return at >= range[0] && at <= range[1];
    });
    return [
      ...lines,
      ...points.map(({ value }) => {
        return { values: known(evaluated.map(value), 0, evaluated.length), keepsEnds: true } as const;
      }),
    ];
  }

  /** The columns whose values the y axis is to show. */
  private heights(): (number | null)[][] {
    const { data } = this.group;
    if (this.spec.stacked) return [data.stack[2]];
    const band = this.spec.band?.map((name) => data.steps[name]) ?? [];
    return [...band, ...this.spec.lines.map(({ key }) => data.line(key))];
  }

  private get markView(): Parameters<typeof drawMarkLines>[1] {
    const { model, data, range, palette } = this.group;
    const cuts = data.axis === 'time' ? model.cuts : [];
    return { marks: model.marks, xOf: (mark) => data.xOf(mark), range, cuts, palette };
  }

  /** Where values lie above or below the axis. */
  private drawHidden(plot: uPlot): void {
    const { palette, model, data } = this.group;
    const first = this.spec.lines[0];
    const columns = this.heights().map((y): PointsAt => {
      return { color: palette.charts[first?.color ?? 'blue'], x: data.x, y };
    });
    const x = model.evaluations.map((evaluation) => data.xOf(evaluation));
    const evaluated = shownPoints(this.spec, model).map(({ color, value }): PointsAt => {
      return { color: palette.charts[color], x, y: model.evaluations.map(value) };
    });
    drawArrows(plot, [...columns, ...evaluated]);
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
    for (const { color, value } of shownPoints(this.spec, model)) {
      ctx.strokeStyle = ctx.fillStyle = palette.charts[color];
      const line = new Path2D();
      const dots = new Path2D();
      let begun = false;
      for (const evaluation of model.evaluations) {
        const height = value(evaluation);
        if (height === null) continue;
        const left = plot.valToPos(data.xOf(evaluation), 'x', true);
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

/** The values from `first` to before `end`, without those that are missing. */
function known(values: readonly (number | null)[], first: number, end: number): Float64Array {
  const found = new Float64Array(Math.max(0, end - first));
  let length = 0;
  for (let row = first; row < end; row++) {
    const value = values[row] ?? null;
    if (value !== null) found[length++] = value;
  }
  return found.subarray(0, length);
}
