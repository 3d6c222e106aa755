// The figures of a run as one table, for spreadsheets and other programs.
import { csvText } from '../../compare/exports.js';
import type { RunFacts } from '../facts.js';
import type { RunRecord } from '../runRecord.js';

/** `values` by the name of the curve. */
interface Row {
  /** A step of the run; of samples of hosts and GPUs, seconds since the run was created. */
  x: number;
  /** Seconds since the epoch, of the row's first value. */
  time: number;
  values: Map<string, number>;
}

/**
 * Comma-separated values (RFC 4180): a row for each step, with all that was measured there, then
 * one for each sample of hosts and GPUs. `step` is empty in these, and `seconds` in the others. `time` is
 * in seconds since the epoch. Figures are not rounded.
 */
export function csvOf(record: RunRecord): string {
  const names = [...record.series].flatMap(([name, { points }]) => (points.length > 0 ? [name] : []));
  const cells = ({ time, values }: Row): (number | undefined)[] => [
    time,
    ...names.map((name) => values.get(name)),
  ];
  return csvText([
    ['step', 'seconds', 'time', ...names],
    ...rowsOf(record, false).map((row) => [row.x, undefined, ...cells(row)]),
    ...rowsOf(record, true).map((row) => [undefined, row.x, ...cells(row)]),
  ]);
}

/** The same as one object of JSON, with what is known of the run besides. */
export function jsonOf(record: RunRecord, facts: RunFacts): string {
  const of = (x: string, isSample: boolean): object[] =>
    rowsOf(record, isSample).map((row) => ({
      [x]: row.x,
      time: row.time,
      values: Object.fromEntries(row.values),
    }));
  const { id, name, notes, tags, status, started, ended, settings, state } = facts;
  const inSeconds = { started: started / 1000, ended: ended === undefined ? null : ended / 1000 };
  const run = { id, name, notes, tags, status, ...inSeconds, settings, state };
  return `${JSON.stringify({ run, steps: of('step', false), samples: of('seconds', true) })}\n`;
}

/** In the order of `x`. Samples are the curves that only grow. */
function rowsOf(record: RunRecord, isSample: boolean): Row[] {
  const rows = new Map<number, Row>();
  for (const [name, { appendOnly, points }] of record.series) {
    if (appendOnly !== isSample) continue;
    for (const { step, time, value } of points) {
      const row = rows.get(step) ?? { x: step, time: time / 1000, values: new Map<string, number>() };
      rows.set(step, row);
      row.time = Math.min(row.time, time / 1000);
      row.values.set(name, value);
    }
  }
  return [...rows.values()].sort((a, b) => a.x - b.x);
}
