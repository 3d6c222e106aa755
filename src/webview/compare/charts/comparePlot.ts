// One chart of a comparison on a canvas: uPlot draws axes and crosshair, and the lines are drawn here,
// since each run has x values of its own.
import uPlot from 'uplot';
import { fontSize, plotTicks } from '../../dashboard/charts/timeAxis.js';
import { withAlpha } from '../../dashboard/charts/tints.js';
import type { Palette } from '../../dashboard/elements/colors.js';
import type { ChartPicture } from '../../dashboard/save/chartImage.js';
import { axisNames, type ChartLine, type CompareChart } from '../model/curves.js';
import type { CompareAxis } from '../model/view.js';
import { yRangeOf, yTick } from '../model/yAxis.js';

/** All that is drawn. */
export interface PlotView {
  chart: CompareChart;
  axis: CompareAxis;
  /** What the x axis shows. */
  range: [number, number];
  palette: Palette;
  /** The run that stands out. */
  emphasized: number | undefined;
}

/** The chart as an image shows it. */
export function comparePicture(view: PlotView): ChartPicture {
  const { chart, axis, range, palette } = view;
  return {
    title: chart.title,
    palette,
    x: { name: axisNames[axis], range, text: (at) => at.toLocaleString('en-US') },
    y: { range: yRangeOf(chart, range), text: (value) => yTick(chart.name, value) },
    lines: chart.lines,
  };
}

export class ComparePlot {
  /** The path of each line, for the scales that `scales` names. */
  private paths = new WeakMap<ChartLine, Path2D>();
  private scales = '';
  private plot: uPlot;

  constructor(
    private readonly host: HTMLElement,
    private view: PlotView,
    private readonly onCursor: (x: number | undefined) => void,
    private readonly onZoom: (zoom: [number, number] | undefined) => void,
  ) {
    this.plot = this.make();
  }

  update(view: PlotView): void {
    const before = this.view;
    this.view = view;
    const hasSameLook = view.palette === before.palette && view.axis === before.axis;
    const hasSamePlaces = view.chart === before.chart && String(view.range) === String(before.range);
    if (!hasSameLook) {
      this.plot.destroy();
      this.plot = this.make();
    } else if (!hasSamePlaces) this.plot.setData([[...view.range], [null, null]]);
    else if (view.emphasized !== before.emphasized) this.plot.redraw(false, false);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width > 0 && height > 0) this.plot.setSize({ width, height });
  }

  moveCursor(x: number | undefined): void {
    if (x === undefined) this.plot.setCursor({ left: -10, top: -10 });
    else this.plot.setCursor({ left: this.plot.valToPos(x, 'x'), top: 0 });
  }

  destroy(): void {
    this.plot.destroy();
  }

  private make(): uPlot {
    const { palette, axis: unit, range } = this.view;
    const axis = {
      stroke: palette.muted,
      font: `${fontSize}px ${palette.font}`,
      grid: { stroke: withAlpha(palette.foreground, 0.14), width: 1 },
      ticks: { show: false },
      gap: 4,
    };
    const options: uPlot.Options = {
      width: Math.max(50, this.host.clientWidth),
      height: Math.max(50, this.host.clientHeight),
      padding: [8, 12, 0, 0],
      legend: { show: false },
      series: [{}, { show: false }],
      scales: {
        x: { time: false, range: () => this.view.range },
        y: { range: () => yRangeOf(this.view.chart, this.view.range) },
      },
      axes: [
        {
          ...axis,
          size: 24,
          space: 64,
          ...plotTicks(unit === 'step' ? 'step' : 'epoch', () => this.view.range),
        },
        {
          ...axis,
          space: 28,
          size: (_plot, values) =>
            12 + 6.5 * Math.max(3, ...((values as string[] | null) ?? []).map(({ length }) => length)),
          values: (_plot, splits) => splits.map((value) => yTick(this.view.chart.name, value)),
        },
      ],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: {
          dblclick: () => () => {
            this.onZoom(undefined);
            return null;
          },
        },
        sync: {
          key: 'trainyard-compare',
          setSeries: false,
          scales: ['x', null],
          filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
        },
      },
      hooks: {
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 4) return;
            const zoom: [number, number] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            this.onZoom(zoom);
          },
        ],
        setCursor: [
          (plot) => {
            const { left = -1 } = plot.cursor;
            this.onCursor(left < 0 ? undefined : plot.posToVal(left, 'x'));
          },
        ],
        draw: [
          (plot) => {
            this.drawLines(plot);
          },
        ],
      },
    };
    return new uPlot(options, [[...range], [null, null]], this.host);
  }

  private drawLines(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const { chart, palette, emphasized } = this.view;
    const ends = ['x', 'y'].map((name) => [plot.scales[name]?.min, plot.scales[name]?.max]);
    const scales = JSON.stringify([ends, bbox]);
    if (scales !== this.scales) this.paths = new WeakMap();
    this.scales = scales;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineJoin = 'round';
    const last = (a: ChartLine): number => Number(a.row === emphasized);
    for (const line of [...chart.lines].sort((a, b) => last(a) - last(b))) {
      const faint = emphasized !== undefined && line.row !== emphasized;
      const color = palette.charts[line.color];
      ctx.strokeStyle = ctx.fillStyle = faint ? withAlpha(color, 0.25) : color;
      ctx.lineWidth = (line.row === emphasized ? 2.5 : 1.5) * devicePixelRatio;
      ctx.setLineDash(line.dash.map((length) => length * devicePixelRatio));
      const path = this.paths.get(line) ?? pathOf(plot, line);
      this.paths.set(line, path);
      ctx.stroke(path);
    }
    ctx.restore();
  }
}

/** A line in the plot's scales. */
function pathOf(plot: uPlot, { x, y }: ChartLine): Path2D {
  const path = new Path2D();
  let begun = false;
  x.forEach((at, index) => {
    const value = y[index] ?? null;
    if (value === null) {
      begun = false;
      return;
    }
    const [left, top] = [plot.valToPos(at, 'x', true), plot.valToPos(value, 'y', true)];
    if (begun) path.lineTo(left, top);
    else path.moveTo(left, top);
    begun = true;
    // A line needs two points; one alone would not be seen.
    if (x.length === 1) path.arc(left, top, 2.5 * devicePixelRatio, 0, 2 * Math.PI);
  });
  return path;
}
