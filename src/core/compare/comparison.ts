// Runs beside each other: a table with a run a row, of what differs and of figures.
import { moneyText } from '../cost/runCost.js';
import { accuracyText, firstReaching, wholePercent } from '../model/spending.js';
import { ownName, type ComparedRun, type RunFigures } from './comparedRun.js';
import { differencesOf, type Difference } from './settings.js';

/** How a column's values are written for people. */
export type ColumnKind = 'count' | 'number' | 'fraction' | 'seconds' | 'rate' | 'money';

/** One figure of every run. Null is what nobody knows, and its text is empty. */
interface Column {
  /** For programs: lower case, with its unit. */
  key: string;
  title: string;
  kind: ColumnKind;
  /** Which values are the better ones; null where that means nothing. */
  better: 'high' | 'low' | null;
  values: (number | null)[];
  texts: string[];
  /** An own program reported it; the key is what it is called there. */
  isOwn: boolean;
}

/** What was compared. The values of differences and columns are in the order of `runs`. */
export interface Comparison {
  runs: readonly ComparedRun[];
  differences: Difference[];
  /** A fraction: of the columns that say what it took to reach an accuracy. Null: of no run known. */
  accuracy: number | null;
  /** Those of which any run has a value. */
  columns: Column[];
}

/** Of a figure: its key, its title, and how it is written. */
type FigureColumn = [keyof RunFigures, string, string, ColumnKind];

/** What people compare first. */
const priceColumns: readonly FigureColumn[] = [
  ['bestTop1', 'best_top1', 'best top-1', 'fraction'],
  ['secondsPerEpoch', 'seconds_per_epoch', 'time an epoch', 'seconds'],
  ['seconds', 'seconds', 'total time', 'seconds'],
  ['imagesPerSec', 'images_per_sec', 'mean images/s', 'rate'],
  ['rateWriters', 'images_per_sec_writers', 'sum of writers', 'count'],
  ['cost', 'cost', 'price so far', 'money'],
  ['costAtEnd', 'cost_at_end', 'price at the end', 'money'],
  ['costPerEpoch', 'cost_per_epoch', 'price of an epoch', 'money'],
];
const figureColumns: readonly FigureColumn[] = [
  ['epochs', 'epochs', 'epochs', 'count'],
  ['steps', 'steps', 'steps', 'count'],
  ['top1', 'top1', 'top-1', 'fraction'],
  ['top5', 'top5', 'top-5', 'fraction'],
  ['bestTop5', 'best_top5', 'best top-5', 'fraction'],
  ['loss', 'loss', 'loss', 'number'],
  ['bestLoss', 'best_loss', 'best loss', 'number'],
  ['evalLoss', 'eval_loss', 'eval loss', 'number'],
  ['bestEvalLoss', 'best_eval_loss', 'best eval loss', 'number'],
];
const restartColumns: readonly FigureColumn[] = [
  ['restarts', 'restarts', 'restarts', 'count'],
  ['secondsLost', 'seconds_lost', 'lost to restarts', 'seconds'],
  ['costLost', 'cost_lost', 'price of restarts', 'money'],
  ['secondsIdle', 'seconds_idle', 'without a step', 'seconds'],
  ['costIdle', 'cost_idle', 'price without a step', 'money'],
];

/**
 * The runs in this order. `accuracy` (a fraction) is the one whose time and price are asked for;
 * left out it is the greatest whole percent that every run with evaluations has reached.
 */
export function compareRuns(runs: readonly ComparedRun[], accuracy = commonAccuracy(runs)): Comparison {
  const column = (key: string, title: string, kind: ColumnKind, values: (number | null)[]): Column => ({
    key,
    title,
    kind,
    better: betterOf(key),
    values,
    isOwn: false,
    texts: values.map((value, at) => valueText(kind, value, runs[at]?.currency ?? null)),
  });
  const figures = (of: readonly FigureColumn[]): Column[] =>
    of.map(([name, key, title, kind]) =>
      column(
        key,
        title,
        kind,
        runs.map((run) => run.figures[name]),
      ),
    );
  const columns = [
    ...figures(priceColumns),
    ...(accuracy === undefined ? [] : reachColumns(runs, accuracy, column)),
    ...figures(figureColumns),
    ...figures(restartColumns),
    ...ownColumns(runs, column),
  ];
  return {
    runs,
    differences: differencesOf(runs),
    accuracy: accuracy ?? null,
    columns: columns.filter(({ values }) => values.some((value) => value !== null)),
  };
}

type MakeColumn = (key: string, title: string, kind: ColumnKind, values: (number | null)[]) => Column;

function commonAccuracy(runs: readonly ComparedRun[]): number | undefined {
  const best = runs.flatMap(({ figures }) => figures.bestTop1 ?? []);
  if (best.length === 0) return undefined;
  return wholePercent(Math.min(...best));
}

/** What the first evaluation that is at least as good took. */
function reachColumns(runs: readonly ComparedRun[], accuracy: number, column: MakeColumn): Column[] {
  const first = runs.map(({ evaluations }) => firstReaching(evaluations, accuracy));
  const percent = accuracyText(accuracy);
  return [
    column(
      'seconds_to_accuracy',
      `time to ${percent}`,
      'seconds',
      first.map((each) => (each ? each.hours * 3600 : null)),
    ),
    column(
      'cost_to_accuracy',
      `price to ${percent}`,
      'money',
      first.map((each) => each?.cost ?? null),
    ),
  ];
}

/** The last value of each figure that an own program reported. */
function ownColumns(runs: readonly ComparedRun[], column: MakeColumn): Column[] {
  const names = new Set(runs.flatMap(({ own }) => own.map(ownName)));
  return [...names].map((name) => {
    const values = runs.map(({ own }) => own.find((each) => ownName(each) === name)?.last ?? null);
    return { ...column(name, name, 'number', values), isOwn: true };
  });
}

const high = new Set(['top1', 'best_top1', 'top5', 'best_top5', 'images_per_sec']);
const neither = new Set(['steps', 'epochs', 'images_per_sec_writers']);
const low = new Set(
  [...priceColumns, ...figureColumns, ...restartColumns]
    .map(([, key]) => key)
    .filter((key) => !high.has(key) && !neither.has(key)),
);

function betterOf(key: string): Column['better'] {
  if (high.has(key)) return 'high';
  return low.has(key) || key.endsWith('_to_accuracy') ? 'low' : null;
}

/** For people. Empty where nothing is known. */
export function valueText(kind: ColumnKind, value: number | null, currency: string | null): string {
  if (value === null) return '';
  switch (kind) {
    case 'count':
      return Number.isInteger(value) ? value.toLocaleString('en-US') : value.toFixed(1);
    case 'number':
      return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
    case 'fraction':
      return `${(100 * value).toFixed(2)}%`;
    case 'seconds':
      return timeText(value);
    case 'rate':
      return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1);
    case 'money':
      return currency === null ? '' : moneyText(value, currency);
  }
}

/** Exact to the second: runs of a comparison may differ by seconds. */
function timeText(seconds: number): string {
  if (seconds < 99.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min ${whole % 60} s` : `${minutes} min ${whole % 60} s`;
}
