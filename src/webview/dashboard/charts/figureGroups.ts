// The curves of an own program as charts: one for each tag, in groups by what stands before the
// tag's first `/`.
import type { FigureSeries } from '../../protocol.js';
import { count, elapsed, significant } from '../model/format.js';
import type { ChartColor } from '../elements/colors.js';
import { places, rowAt, type FigureAxis } from './figureAxis.js';

/** Curves of one chart whose figures are named; more than that nobody can tell apart. */
export const mostNamed = 8;
const colors: readonly ChartColor[] = ['blue', 'orange', 'green', 'purple', 'red', 'yellow'];
export const colorOf = (index: number): ChartColor => colors[index % colors.length] ?? 'blue';

export interface FigureChart {
  tag: string;
  /** The tag without its group. */
  title: string;
  series: FigureSeries[];
}

export interface FigureGroup {
  /** Empty for tags without a `/`. */
  name: string;
  charts: FigureChart[];
}

/** `filter` is part of a tag, in any case. Tags without a group come first, all by their names. */
export function figureGroups(figures: readonly FigureSeries[], filter = ''): FigureGroup[] {
  const charts = new Map<string, FigureChart>();
  for (const one of figures) {
    if (!one.tag.toLowerCase().includes(filter.toLowerCase())) continue;
    const known = charts.get(one.tag);
    if (known) known.series.push(one);
    else charts.set(one.tag, { tag: one.tag, title: one.tag.slice(one.tag.indexOf('/') + 1), series: [one] });
  }
  const groups = new Map<string, FigureChart[]>();
  const byName = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
  for (const chart of [...charts.values()].sort((a, b) => byName(a.tag, b.tag))) {
    chart.series.sort((a, b) => byName(a.writer, b.writer));
    const name = chart.tag.slice(0, Math.max(0, chart.tag.indexOf('/')));
    const group = groups.get(name);
    if (group) group.push(chart);
    else groups.set(name, [chart]);
  }
  return [...groups]
    .map(([name, list]) => ({ name, charts: list }))
    .sort((a, b) => Number(b.name === '') - Number(a.name === '') || byName(a.name, b.name));
}

/** What a curve is called beside its value. */
export function lineLabel({ series }: FigureChart, { writer }: FigureSeries): string {
  if (writer !== '') return writer;
  return series.length === 1 ? 'value' : 'run';
}

export interface FigureLegend {
  label: string;
  color: ChartColor;
  value: string;
}

/** The figures that were the newest at this place of the axis, of the first curves. */
export function figureLegend(chart: FigureChart, axis: FigureAxis, at = Infinity): FigureLegend[] {
  return chart.series.slice(0, mostNamed).map((one, index) => ({
    label: lineLabel(chart, one),
    color: colorOf(index),
    value: significant(one.value[rowAt(one, axis, at)] ?? null),
  }));
}

/** The newest step of any curve; undefined without one. */
export function lastStep({ series }: FigureChart): number | undefined {
  const steps = series.flatMap(({ step }) => step.at(-1) ?? []);
  return steps.length === 0 ? undefined : Math.max(...steps);
}

/** What a chart shows, in words. */
export function figureSummary(chart: FigureChart, axis: FigureAxis): string {
  const step = lastStep(chart);
  if (step === undefined) return `${chart.tag}: no data yet`;
  const bound = (of: (a: number, b: number) => number, start: number): number =>
    chart.series
      .flatMap(({ min, max }) => [...min, ...max])
      .reduce<number>((best, value) => (value === null ? best : of(best, value)), start);
  const [low, high] = [bound(Math.min, Infinity), bound(Math.max, -Infinity)];
  const figures = figureLegend(chart, axis).map(({ label, value }) => `${label} ${value}`);
  const more = chart.series.length > mostNamed ? ` and ${chart.series.length - mostNamed} more` : '';
  const bounds = low > high ? '' : `; between ${significant(low)} and ${significant(high)}`;
  return `${chart.tag} at step ${count(step)}: ${figures.join(', ')}${more}${bounds}`;
}

/**
 * The figures of the first curve's newest `most` rows, with those of the others at that place;
 * newest first.
 */
export function figureTable(
  chart: FigureChart,
  axis: FigureAxis,
  most = Infinity,
): { head: string[]; rows: string[][] } {
  const [first] = chart.series;
  const head = ['Time', 'Step', ...figureLegend(chart, axis).map(({ label }) => label)];
  if (!first) return { head, rows: [] };
  const { length } = first.step;
  const along = places(first, axis);
  const rows = Array.from({ length: Math.min(length, most) }, (_, back) => {
    const row = length - 1 - back;
    const time = first.time[row] ?? 0;
    const values = figureLegend(chart, axis, along[row] ?? 0).map(({ value }) => value);
    return [elapsed(axis.runTime(time)), count(first.step[row] ?? 0), ...values];
  });
  return { head, rows };
}
