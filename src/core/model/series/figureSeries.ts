// The figures of one tag of one writer in columns, bounded: neighbouring rows are merged, and their
// extremes are kept.
import type { FigureLine } from '../../contracts/figureSchema.js';
import { sliceStart, type Cursor, type Slice } from '../../streams/slices.js';

/** Columns of equal length, oldest row first. `value` is a mean, which `min` and `max` bound. */
export interface FigureColumns {
  /** Of the last figure in the row. */
  step: number[];
  /** Of the last figure in the row, seconds since the epoch. */
  time: number[];
  value: (number | null)[];
  min: (number | null)[];
  max: (number | null)[];
}

interface Row {
  /** Figures in the row, and those of them that are numbers. */
  count: number;
  numbers: number;
  step: number;
  time: number;
  value: number | null;
  min: number | null;
  max: number | null;
}

/** More digits than anybody sees cost their way to the screen. */
const short = (value: number): number => Number(value.toPrecision(7));

function merged(a: Row, b: Row): Row {
  const numbers = a.numbers + b.numbers;
  const mean = ((a.value ?? 0) * a.numbers + (b.value ?? 0) * b.numbers) / numbers;
  const one = (x: number | null, y: number | null, of: (x: number, y: number) => number): number | null =>
    x === null || y === null ? (x ?? y) : of(x, y);
  return {
    count: a.count + b.count,
    numbers,
    step: b.step,
    time: b.time,
    value: numbers === 0 ? null : mean,
    min: one(a.min, b.min, Math.min),
    max: one(a.max, b.max, Math.max),
  };
}

/** What a receiver holds, and how many lines came to that. */
export interface FigureCursor extends Cursor {
  taken: number;
}

/** One curve, in at most `capacity` rows. */
export class FigureSeries {
  private rows: Row[] = [];
  private stride = 1;
  private revision = 0;
  /** Counts the lines that were taken in. */
  private taken = 0;
  private generation = 0;
  private newest: FigureLine | undefined;

  constructor(readonly capacity = 512) {}

  /** False for a line that does not count: it is of an older generation than another. */
  push(line: FigureLine): boolean {
    if (line.generation < this.generation) return false;
    this.generation = line.generation;
    this.taken++;
    if (line.step <= (this.newest?.step ?? -Infinity)) this.truncate(line.step);
    this.newest = line;
    const value = line.value === null ? null : short(line.value);
    const time = Math.round(line.time * 1000) / 1000;
    const row = {
      count: 1,
      numbers: value === null ? 0 : 1,
      step: line.step,
      time,
      value,
      min: value,
      max: value,
    };
    let last = this.rows.at(-1);
    if (this.rows.length === this.capacity && last?.count === this.stride) {
      this.halve();
      last = this.rows.at(-1);
    }
    if (last !== undefined && last.count < this.stride) this.rows[this.rows.length - 1] = merged(last, row);
    else this.rows.push(row);
    return true;
  }

  get last(): FigureLine | undefined {
    return this.newest;
  }

  /** Of the rows that are numbers, in their order. */
  get values(): number[] {
    return this.rows.flatMap(({ value }) => value ?? []);
  }

  cursor(): FigureCursor {
    return { revision: this.revision, length: this.rows.length, taken: this.taken };
  }

  /** Whether nothing came since. */
  holds({ taken }: FigureCursor): boolean {
    return taken === this.taken;
  }

  /** What a receiver with `cursor` lacks. */
  slice(cursor?: Cursor): Slice<FigureColumns> {
    const from = sliceStart(cursor, this.cursor());
    const rows = this.rows.slice(from);
    return {
      from,
      rows: {
        step: rows.map(({ step }) => step),
        time: rows.map(({ time }) => time),
        value: rows.map(({ value }) => value),
        min: rows.map(({ min }) => min),
        max: rows.map(({ max }) => max),
      },
    };
  }

  /** A merged row that reaches `step` goes whole. */
  private truncate(step: number): void {
    const keep = this.rows.findIndex((row) => row.step >= step);
    if (keep < 0) return;
    this.rows.length = keep;
    this.revision++;
  }

  private halve(): void {
    const halved: Row[] = [];
    for (let index = 0; index < this.rows.length; index += 2) {
      const [a, b] = this.rows.slice(index, index + 2);
      if (a) halved.push(b ? merged(a, b) : a);
    }
    this.rows = halved;
    this.stride *= 2;
    this.revision++;
  }
}
