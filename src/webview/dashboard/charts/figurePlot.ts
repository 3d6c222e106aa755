// One chart of an own program's figures on a canvas.
import uPlot from 'uplot';
import type { Mark } from '../../protocol.js';
import { significant } from '../model/format.js';
import type { Cut } from '../model/model.js';
import type { Palette } from '../elements/colors.js';
import { markAt, places, type FigureAxis } from './figureAxis.js';
import { colorOf, type FigureChart } from './figureGroups.js';
import { drawMarkLines } from './markLines.js';
import { mixed, withAlpha } from './tints.js';
import { fontSize, plotTicks } from './timeAxis.js';

/** All that is drawn. */
export interface FigureView {
  chart: FigureChart;
  axis: FigureAxis;
  /** What the x axis shows, in its unit. */
  range: [number, number];
  marks: readonly Mark[];
  /** The pauses that run time leaves out. */
  cuts: readonly Cut[];
  palette: Palette;
}

export class FigurePlot {
  private plot: uPlot;

  constructor(
    private readonly host: HTMLElement,
    private view: FigureView,
    private readonly onCursor: (at: number | undefined) => void,
    private readonly onZoom: (zoom: [number, number] | undefined) => void,
  ) {
    this.plot = this.make();
  }

  update(view: FigureView): void {
    const same =
      view.chart.series.length === this.view.chart.series.length &&
      view.palette === this.view.palette &&
      view.axis.kind === this.view.axis.kind;
    this.view = view;
    if (same) {
      this.plot.setData(this.columns());
      return;
    }
    this.plot.destroy();
    this.plot = this.make();
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

  /** Moves the crosshair by so many points; `undefined` takes it away. */
  moveCursor(points: number | undefined): void {
    const { data, cursor } = this.plot;
    const last = data[0].length - 1;
    if (points === undefined || last < 0) {
      this.plot.setCursor({ left: -10, top: -10 });
      return;
    }
    const from = (cursor.left ?? -1) < 0 ? last + (points < 0 ? 1 : -1) : (cursor.idx ?? last);
    const at = data[0][Math.max(0, Math.min(last, from + points))] ?? 0;
    this.plot.setCursor({ left: this.plot.valToPos(at, 'x'), top: 0 });
  }

  destroy(): void {
    this.plot.destroy();
  }

  /** A curve alone has the bounds of its merged rows as a band. */
  private columns(): uPlot.AlignedData {
    const { chart, axis } = this.view;
    const [first] = chart.series;
    if (!first) return [[]];
    if (chart.series.length === 1) return [places(first, axis), first.min, first.max, first.value];
    return uPlot.join(chart.series.map((one): uPlot.AlignedData => [places(one, axis), one.value]));
  }

  private make(): uPlot {
    const { palette, chart } = this.view;
    const alone = chart.series.length === 1;
    const stroke = (index: number): string => palette.charts[colorOf(index)];
    // A line needs two points; the first of a run would not be seen.
    const single: uPlot.Series.Points = { size: 5, show: (_plot, _series, first, last) => first === last };
    const lines = chart.series.map((_, index): uPlot.Series => ({
      stroke: stroke(index),
      width: 1.5,
      points: single,
    }));
    const bound: uPlot.Series = { width: 0, points: { show: false } };
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
      series: [{}, ...(alone ? [bound, bound] : []), ...lines],
      bands: alone ? [{ series: [2, 1], fill: mixed(stroke(0), 0.16, 'transparent') }] : [],
      scales: {
        x: { time: false, range: () => this.view.range },
        y: { range: (_plot, low, high) => yRange(low, high) },
      },
      axes: [
        {
          ...axis,
          size: 24,
          space: 64,
          ...plotTicks(this.view.axis.kind, () => this.view.range),
        },
        {
          ...axis,
          space: 28,
          size: (_plot, values) =>
            12 + 6.5 * Math.max(3, ...((values as string[] | null) ?? []).map(({ length }) => length)),
          values: (_plot, splits) => splits.map((value) => tickText(value)),
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
          key: 'trainyard-figures',
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
            const { left, idx } = plot.cursor;
            const at = typeof idx === 'number' ? plot.data[0][idx] : undefined;
            this.onCursor((left ?? -1) < 0 ? undefined : at);
          },
        ],
        drawAxes: [
          (plot) => {
            const { marks, axis: along, range, palette: colors } = this.view;
            const cuts = along.kind === 'time' ? this.view.cuts : [];
            const [first] = this.view.chart.series;
            if (!first) return;
            const xOf = (mark: Mark): number => markAt(mark, along, first);
            drawMarkLines(plot, { marks, xOf, range, cuts, palette: colors });
          },
        ],
      },
    };
    return new uPlot(options, this.columns(), this.host);
  }
}

export const tickText = (value: number | null): string =>
  value === null ? '' : value !== 0 && Math.abs(value) < 1e-3 ? significant(value, 2) : compact.format(value);
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 });

function yRange(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const room = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}
