// What the charts show: which figures, under which names, in which colours and units.
import type { Evaluation } from '../../protocol.js';
import type { ChartData, LineKey } from './chartData.js';
import { count, elapsed, milliseconds, percent, rate, significant } from '../model/format.js';
import type { PageModel } from '../model/model.js';
import { lastAtMost } from '../elements/sampling.js';
import type { ChartColor } from '../elements/colors.js';
import { shareAxis } from './yRange.js';

export interface LineSpec {
  key: LineKey;
  label: string;
  color: ChartColor;
  smoothed: boolean;
}

/** Points of the evaluations, which are fewer than the steps. */
interface PointSpec {
  label: string;
  color: ChartColor;
  value: (evaluation: Evaluation) => number | null;
  /** Left out while all its values are this: they say nothing. */
  trivial?: number;
}

export interface ChartSpec {
  id: string;
  title: string;
  lines: LineSpec[];
  points: PointSpec[];
  /** Columns that bound the first line. */
  band?: ['imagesPerSecMin', 'imagesPerSecMax'] | ['lossMin', 'lossMax'];
  /** Lines lie on one another instead of crossing. */
  stacked?: true;
  /** The y axis begins at zero. */
  fromZero: boolean;
  canLog?: true;
  /** A few values far away from the others may be left out of sight. */
  canHideOutliers?: true;
  /** Where all values are above this, the y axis need not begin at zero. */
  nearTop?: number;
  format: (value: number | null) => string;
  axis: (value: number) => string;
}

/** `1.5M`, `2B`. */
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 4 });

const short = (value: number): string => {
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(0);
  if (Math.abs(value) >= 1e6) return compact.format(value);
  return Math.abs(value) >= 1e4 ? `${+(value / 1000).toPrecision(4)}k` : String(+value.toPrecision(4));
};

export const chartSpecs: readonly ChartSpec[] = [
  {
    id: 'throughput',
    title: 'Images/s',
    lines: [{ key: 'imagesPerSec', label: 'images/s', color: 'blue', smoothed: true }],
    points: [],
    band: ['imagesPerSecMin', 'imagesPerSecMax'],
    fromZero: true,
    canHideOutliers: true,
    format: rate,
    axis: short,
  },
  {
    id: 'loss',
    title: 'Loss',
    lines: [{ key: 'loss', label: 'train', color: 'orange', smoothed: true }],
    points: [{ label: 'eval', color: 'purple', value: ({ loss }) => loss }],
    band: ['lossMin', 'lossMax'],
    fromZero: false,
    canLog: true,
    canHideOutliers: true,
    format: significant,
    axis: short,
  },
  {
    id: 'accuracy',
    title: 'Accuracy',
    lines: [{ key: 'top1', label: 'train top-1', color: 'orange', smoothed: true }],
    points: [
      { label: 'eval top-1', color: 'purple', value: ({ top1 }) => top1 },
      { label: 'eval top-5', color: 'green', value: ({ top5 }) => top5, trivial: 1 },
    ],
    ...shareAxis,
    format: percent,
    axis: (value) => `${+(value * 100).toPrecision(3)}%`,
  },
  {
    id: 'steptime',
    title: 'Step time',
    lines: [
      { key: 'compute', label: 'compute', color: 'blue', smoothed: true },
      { key: 'comm', label: 'comm', color: 'purple', smoothed: true },
      { key: 'input', label: 'input wait', color: 'yellow', smoothed: true },
    ],
    points: [],
    stacked: true,
    fromZero: true,
    canHideOutliers: true,
    format: milliseconds,
    axis: (value) => (value >= 1000 ? `${+(value / 1000).toPrecision(3)} s` : `${+value.toPrecision(3)} ms`),
  },
  {
    id: 'lr',
    title: 'Learning rate',
    lines: [{ key: 'lr', label: 'rate', color: 'green', smoothed: false }],
    points: [],
    fromZero: true,
    format: (value) => significant(value, 3),
    axis: short,
  },
];

/**
 * Whether there is anything to draw: a run may have no input wait to speak of, but never no figures
 * at all.
 */
export function hasData(spec: ChartSpec, data: ChartData, model: PageModel): boolean {
  if (data.length === 0) return false;
  return (
    spec.lines.some(({ key }) => data.line(key).some((value) => value !== null)) ||
    spec.points.some(({ value }) => model.evaluations.some((evaluation) => value(evaluation) !== null))
  );
}

/** What is drawn of a chart's points: top-5 of five classes is left out. */
export function shownPoints(spec: ChartSpec, model: PageModel): PointSpec[] {
  return spec.points.filter(({ value, trivial }) =>
    trivial === undefined
      ? model.evaluations.length > 0
      : model.evaluations.some((one) => value(one) !== trivial),
  );
}

/** The evaluation that was the newest at `time`, seconds since the epoch. */
function evaluationAt(model: PageModel, time: number): Evaluation | undefined {
  const times = model.evaluations.map(({ time }) => time);
  return model.evaluations[lastAtMost(times, time)];
}

export interface LegendItem {
  label: string;
  color: ChartColor;
  /** As measured. */
  value: string;
  /** Where the strong line is, if that is another place. */
  smoothed?: string;
}

/** Figures of one row, where the crosshair is. */
export function legendAt(spec: ChartSpec, data: ChartData, model: PageModel, row: number): LegendItem[] {
  const evaluation = evaluationAt(model, row >= data.length - 1 ? Infinity : (data.steps.time[row] ?? 0));
  return [
    ...spec.lines.map(({ key, label, color, smoothed }) => ({
      label,
      color,
      value: spec.format(data.line(key)[row] ?? null),
      ...(smoothed && data.isSmoothed ? { smoothed: spec.format(data.smoothed(key)[row] ?? null) } : {}),
    })),
    ...shownPoints(spec, model).map(({ label, color, value }) => ({
      label,
      color,
      value: spec.format(evaluation ? value(evaluation) : null),
    })),
  ];
}

/** What a chart shows, in words. */
export function summary(spec: ChartSpec, data: ChartData, model: PageModel): string {
  const last = data.length - 1;
  if (last < 0) return `${spec.title}: no data yet`;
  const figures = legendAt(spec, data, model, last).map(({ label, value }) => `${label} ${value}`);
  const first = spec.lines[0];
  const known = (first ? data.line(first.key) : []).filter((value) => value !== null);
  const low = known.reduce((a, b) => Math.min(a, b), Infinity);
  const high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const bounds =
    known.length > 0 ? `; ${first?.label ?? ''} between ${spec.format(low)} and ${spec.format(high)}` : '';
  return `${spec.title} at step ${count(data.steps.step[last] ?? 0)}, ${elapsed(data.seconds(last))} after the start: ${figures.join(', ')}${bounds}`;
}

export interface ChartTable {
  head: string[];
  rows: string[][];
}

/** The figures as measured, not smoothed: the newest `most` rows, newest first. */
export function chartTable(spec: ChartSpec, data: ChartData, model: PageModel, most = Infinity): ChartTable {
  const points = shownPoints(spec, model);
  const head = ['Time', 'Step', ...spec.lines.map(({ label }) => label), ...points.map(({ label }) => label)];
  const rows = Array.from({ length: Math.min(data.length, most) }, (_, back) => {
    const row = data.length - 1 - back;
    const evaluation = evaluationAt(model, back === 0 ? Infinity : (data.steps.time[row] ?? 0));
    return [
      elapsed(data.seconds(row)),
      count(data.steps.step[row] ?? 0),
      ...spec.lines.map(({ key }) => spec.format(data.line(key)[row] ?? null)),
      ...points.map(({ value }) => spec.format(evaluation ? value(evaluation) : null)),
    ];
  });
  return { head, rows };
}
