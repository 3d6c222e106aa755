// Step lines in columns, bounded: a long run's neighbouring rows are merged.
import type { StepLine } from './schema.js';
import { sliceStart, type Cursor, type Slice } from './slices.js';

type Figure = number | null;

/** Columns of equal length, oldest row first. Plain columns are means over the row's lines; Min and Max bound them. */
export interface StepColumns {
  /** Of the last line in the row. */
  step: number[];
  /** Of the last line in the row, seconds since the epoch. */
  time: number[];
  epoch: number[];
  loss: Figure[];
  lossMin: Figure[];
  lossMax: Figure[];
  top1: Figure[];
  lr: number[];
  imagesPerSec: number[];
  imagesPerSecMin: number[];
  imagesPerSecMax: number[];
  stepMs: number[];
  commMs: number[];
  inputWaitMs: number[];
}

type Row = { [K in keyof StepColumns]: StepColumns[K][number] } & { count: number };

const names = [
  'step',
  'time',
  'epoch',
  'loss',
  'lossMin',
  'lossMax',
  'top1',
  'lr',
  'imagesPerSec',
  'imagesPerSecMin',
  'imagesPerSecMax',
  'stepMs',
  'commMs',
  'inputWaitMs',
] as const satisfies readonly (keyof StepColumns)[];

/** More digits than anybody sees cost their way to the screen. */
const short = (value: number): number => Number(value.toPrecision(6));

function rowOf(line: StepLine): Row {
  const loss = line.loss === null ? null : short(line.loss);
  const imagesPerSec = short(line.images_per_sec);
  return {
    count: 1,
    step: line.step,
    time: Math.round(line.time * 1000) / 1000,
    epoch: short(line.epoch),
    loss,
    lossMin: loss,
    lossMax: loss,
    top1: line.top1 === null ? null : short(line.top1),
    lr: short(line.lr),
    imagesPerSec,
    imagesPerSecMin: imagesPerSec,
    imagesPerSecMax: imagesPerSec,
    stepMs: short(line.step_ms),
    commMs: short(line.comm_ms),
    inputWaitMs: short(line.input_wait_ms),
  };
}

function mergeRows(a: Row, b: Row): Row {
  const count = a.count + b.count;
  const mean = (x: number, y: number): number => (x * a.count + y * b.count) / count;
  const one = (x: Figure, y: Figure, of: (x: number, y: number) => number): Figure =>
    x === null || y === null ? (x ?? y) : of(x, y);
  return {
    count,
    step: b.step,
    time: b.time,
    epoch: b.epoch,
    loss: one(a.loss, b.loss, mean),
    lossMin: one(a.lossMin, b.lossMin, Math.min),
    lossMax: one(a.lossMax, b.lossMax, Math.max),
    top1: one(a.top1, b.top1, mean),
    lr: mean(a.lr, b.lr),
    imagesPerSec: mean(a.imagesPerSec, b.imagesPerSec),
    imagesPerSecMin: Math.min(a.imagesPerSecMin, b.imagesPerSecMin),
    imagesPerSecMax: Math.max(a.imagesPerSecMax, b.imagesPerSecMax),
    stepMs: mean(a.stepMs, b.stepMs),
    commMs: mean(a.commMs, b.commMs),
    inputWaitMs: mean(a.inputWaitMs, b.inputWaitMs),
  };
}

export class StepTable {
  private rows: Row[] = [];
  private stride = 1;
  private revision = 0;
  private median: { revision: number; length: number; value: number | undefined } | undefined;

  constructor(readonly capacity = 2048) {
    if (!Number.isInteger(capacity) || capacity < 2) throw new RangeError('a table needs room for two rows');
  }

  push(line: StepLine): void {
    const row = rowOf(line);
    let last = this.rows.at(-1);
    if (this.rows.length === this.capacity && last?.count === this.stride) {
      this.halve();
      last = this.rows.at(-1);
    }
    if (last !== undefined && last.count < this.stride) {
      this.rows[this.rows.length - 1] = mergeRows(last, row);
    } else this.rows.push(row);
  }

  /** Drops what stands at `step` or later: a newer generation repeats it. A merged row that reaches there goes whole. */
  truncate(step: number): void {
    const keep = this.rows.findIndex((row) => row.step >= step);
    if (keep < 0) return;
    this.rows.length = keep;
    this.revision++;
  }

  clear(): void {
    this.rows = [];
    this.stride = 1;
    this.revision++;
  }

  get length(): number {
    return this.rows.length;
  }

  /** When the step was made; undefined when no row reaches it yet. */
  timeOf(step: number): number | undefined {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.rows[middle]?.step ?? 0) < step) low = middle + 1;
      else high = middle;
    }
    return this.rows[low]?.time;
  }

  /**
   * Median of the rows' images/s, the first left out where there are more: it holds the warming up. It is asked many
   * times a second, and found anew when the table has grown by a tenth.
   */
  medianImagesPerSec(): number | undefined {
    const { revision, length } = this.cursor();
    const known = this.median;
    if (known?.revision === revision && length - known.length <= length / 10) return known.value;
    const value = this.findMedian();
    this.median = { revision, length, value };
    return value;
  }

  private findMedian(): number | undefined {
    const rates = this.rows.map(({ imagesPerSec }) => imagesPerSec);
    const settled = (rates.length > 1 ? rates.slice(1) : rates).sort((a, b) => a - b);
    return settled[settled.length >> 1];
  }

  cursor(): Cursor {
    return { revision: this.revision, length: this.rows.length };
  }

  /** What a receiver with `cursor` lacks. */
  slice(cursor?: Cursor): Slice<StepColumns> {
    const from = sliceStart(cursor, this.cursor());
    const rows = this.rows.slice(from);
    const columns = names.map((name) => [name, rows.map((row) => row[name])] as const);
    return { from, rows: Object.fromEntries(columns) as unknown as StepColumns };
  }

  private halve(): void {
    const halved: Row[] = [];
    for (let index = 0; index < this.rows.length; index += 2) {
      const [a, b] = this.rows.slice(index, index + 2);
      if (a) halved.push(b ? mergeRows(a, b) : a);
    }
    this.rows = halved;
    this.stride *= 2;
    this.revision++;
  }
}
