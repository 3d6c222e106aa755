// The curves of all runs, by chart.
import type { ComparisonUpdate, Figure } from '../../protocol.js';
import { colorOf } from '../../dashboard/charts/figureGroups.js';
import type { ChartColor } from '../../dashboard/elements/colors.js';
import { between, lastAtMost } from '../../dashboard/elements/sampling.js';
import { count, elapsed, percent, rate, significant } from '../../dashboard/model/format.js';
import type { CompareAxis } from './view.js';

/** A colour and a pattern tell runs apart; from the seventh run on colours repeat. */
export interface LineStyle {
  color: ChartColor;
  dash: number[];
}

/** One run's line in a chart; `x` rises. */
export interface ChartLine extends LineStyle {
  row: number;
  label: string;
  x: number[];
  y: Figure[];
}

export interface CompareChart {
  name: string;
  title: string;
  lines: ChartLine[];
  /** Whether the figures are of an own program. */
  own: boolean;
}

const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const colors = 6;

export const styleOf = (row: number): LineStyle => ({
  color: colorOf(row),
  dash: dashes[Math.floor(row / colors) % dashes.length] ?? [],
});

const titles: Record<string, string> = {
  loss: 'Loss of training',
  'top-1': 'Top-1 of evaluations',
  'top-5': 'Top-5 of evaluations',
  'images/s': 'Images/s',
};
const usual = Object.keys(titles);

/** The charts of these runs: ours first, then what own programs reported, by name. */
export function chartsOf(
  update: ComparisonUpdate,
  rows: readonly number[],
  axis: CompareAxis,
): CompareChart[] {
  const names = new Set(rows.flatMap((row) => update.runs[row]?.curves.map(({ name }) => name) ?? []));
  const own = [...names].filter((name) => !usual.includes(name)).sort();
  return [...usual.filter((name) => names.has(name)), ...own].map((name) => ({
    name,
    title: titles[name] ?? name,
    own: !usual.includes(name),
    lines: rows.flatMap((row) => lineOf(update, row, name, axis)),
  }));
}

/** None where the run has no such curve, or its axis is not known. */
function lineOf({ runs }: ComparisonUpdate, row: number, name: string, axis: CompareAxis): ChartLine[] {
  const run = runs[row];
  const curve = run?.curves.find((each) => each.name === name);
  if (!run || !curve) return [];
  const x: number[] = [];
  const y: Figure[] = [];
  curve[axis].forEach((at, index) => {
    if (at === null || at < (x.at(-1) ?? -Infinity)) return;
    x.push(at);
    y.push(curve.value[index] ?? null);
  });
  return x.length === 0 ? [] : [{ ...styleOf(row), row, label: run.label, x, y }];
}

/** From the least to the greatest x of all lines. */
export function wholeRange(charts: readonly CompareChart[]): [number, number] {
  const ends = charts.flatMap(({ lines }) => lines.flatMap(({ x }) => x.at(-1) ?? []));
  const high = ends.reduce((a, b) => Math.max(a, b), 0);
  return [0, high > 0 ? high : 1];
}

/** The line's value at `x`; null before its first and after its last point. */
export function valueAt({ x, y }: ChartLine, at: number): Figure {
  const row = lastAtMost(x, at);
  if (row < 0 || at > (x.at(-1) ?? -Infinity)) return null;
  const [low, high] = [y[row] ?? null, y[row + 1] ?? null];
  if (low === null || high === null) return low;
  return between(x, y as number[], at);
}

export const lastValue = ({ y }: ChartLine): Figure => y.findLast((value) => value !== null) ?? null;

/** Whether a chart's values are fractions. */
export const isShare = (name: string): boolean => name === 'top-1' || name === 'top-5';

/** A value of the chart for people. */
export function valueText(name: string, value: Figure): string {
  if (value === null) return '';
  if (isShare(name)) return percent(value, 2);
  return name === 'images/s' ? rate(value) : significant(value);
}

/** A place on the x axis for people. */
export function placeText(axis: CompareAxis, at: number): string {
  if (axis === 'step') return `step ${count(at)}`;
  return axis === 'epoch' ? `epoch ${at.toFixed(1)}` : elapsed(at * 3600);
}

export const axisNames: Record<CompareAxis, string> = {
  step: 'steps',
  epoch: 'epochs',
  hours: 'hours of run time',
};

/** The x of all lines, the greatest first. */
export const xOf = ({ lines }: CompareChart): number[] =>
  [...new Set(lines.flatMap(({ x }) => x))].sort((a, b) => b - a);

/** A table with more would hold up the page. */
const mostCells = 40_000;

/**
 * Rows for the table of a chart, newest first. The x of all lines, thinned to at most `most`: the
 * end of a run alone would say nothing of its curve.
 */
export function tableOf(
  chart: CompareChart,
  axis: CompareAxis,
  most: number,
): { head: string[]; rows: string[][]; spread: true } {
  const all = xOf(chart);
  const rows = Math.min(most, Math.floor(mostCells / (chart.lines.length + 1)));
  const stride = Math.max(1, Math.ceil(all.length / rows));
  const places = all.filter((_, index) => index % stride === 0);
  return {
    spread: true,
    head: [axisNames[axis], ...chart.lines.map(({ label }) => label)],
    rows: places.map((at) => [
      axis === 'step' ? count(at) : at.toFixed(axis === 'epoch' ? 2 : 3),
      ...chart.lines.map((line) => valueText(chart.name, valueAt(line, at))),
    ]),
  };
}
