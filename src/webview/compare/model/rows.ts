// Which runs are shown, and in which order.
import type { ComparedColumn, ComparisonUpdate } from '../../protocol.js';
import type { CompareView } from './view.js';

/** Places in `runs` of those that the filter lets through, sorted. What is unknown stands last. */
export function shownRows(update: ComparisonUpdate, { filter, sort }: CompareView): number[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = update.runs
    .map((_, at) => at)
    .filter((at) => {
      const text = textOf(update, at);
      return words.every((word) => text.includes(word));
    });
  if (!sort) return rows;
  const sign = sort.down ? -1 : 1;
  const value = valueOf(update, sort.key);
  return rows.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
    return (x < y ? -sign : x > y ? sign : 0) || a - b;
  });
}

/** All that the filter looks at: name, tags, profile, status, and the settings that differ. */
function textOf({ runs, differences }: ComparisonUpdate, at: number): string {
  const { id = '', label = '', tags = [], profile = '', status = '' } = runs[at] ?? {};
  const settings = differences.map(({ name, values }) => `${name}=${values[at] ?? ''}`);
  return [id, label, ...tags.map((tag) => `#${tag}`), profile, status, ...settings].join('\n').toLowerCase();
}

function valueOf({ runs, columns }: ComparisonUpdate, key: string): (at: number) => number | string | null {
  if (key === 'run') return (at) => runs[at]?.label ?? null;
  if (key === 'status') return (at) => runs[at]?.status ?? null;
  const column = columns.find((each) => each.key === key);
  return (at) => column?.values[at] ?? null;
}

/** Times and prices of a whole run: less of them is not better where the run did less. */
const ofWholeRun = new Set([
  ...['seconds', 'seconds_lost', 'seconds_idle'],
  ...['cost', 'cost_at_end', 'cost_lost', 'cost_idle'],
]);

type Row = ComparisonUpdate['runs'][number];

type Kind = 'trainer' | 'program';

/** Kept, for the table is drawn at each move of the pointer. */
const kinds = new WeakMap<Row, Kind>();

/** Of whose figures a run has curves; undefined where it has none. */
function kindOf(run: Row): Kind | undefined {
  if (run.curves.length === 0) return undefined;
  const known = kinds.get(run);
  if (known !== undefined) return known;
  const isTrainer = run.curves.some(({ epoch }) => epoch.some((each) => each !== null));
  const kind = isTrainer ? 'trainer' : 'program';
  kinds.set(run, kind);
  return kind;
}

/**
 * Of the rows that are shown, those with the best value; none where all are equal. Of a whole run
 * only times and prices of such as finished are compared, with figures of one kind: a program that
 * trained nothing is no faster.
 */
export function bestRows(
  { key, better, values }: ComparedColumn,
  rows: readonly number[],
  runs: ComparisonUpdate['runs'],
): Set<number> {
  if (better === null) return new Set();
  const isOfWhole = ofWholeRun.has(key);
  const kind = (at: number): Kind | undefined => runs[at] && kindOf(runs[at]);
  const counted = rows.filter(
    (at) => !isOfWhole || (runs[at]?.status === 'finished' && kind(at) !== undefined),
  );
  if (isOfWhole && new Set(counted.map(kind)).size > 1) return new Set();
  const known = counted.flatMap((at) => values[at] ?? []);
  if (known.length < 2 || new Set(known).size < 2) return new Set();
  const best = better === 'high' ? Math.max(...known) : Math.min(...known);
  return new Set(counted.filter((at) => values[at] === best));
}
