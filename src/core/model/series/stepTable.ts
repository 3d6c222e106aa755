// Step lines in columns, bounded: a long run's neighbouring rows are merged.
import type { StepLine } from '../../contracts/metricsSchema.js';
import { sliceStart, type Cursor, type Slice } from '../../streams/slices.js';

type Figure = number | null;

/**
 * Columns of equal length, oldest row first. Plain columns are means over the row's lines; Min and
 * Max bound them.
 */
export interface StepColumns {
  /** Of the last line in the row. */
  step: number[];
  /** Of the last line in the row, seconds since the epoch. */
  time: number[];
  /** Epochs done, with the part of the one under way. */
  epoch: number[];
  loss: Figure[];
  lossMin: Figure[];
  lossMax: Figure[];
  /** Fractions. */
  top1: Figure[];
  lr: number[];
  imagesPerSec: number[];
  imagesPerSecMin: number[];
  imagesPerSecMax: number[];
  stepMs: number[];
  commMs: number[];
  inputWaitMs: number[];
}

type Row = { [K in keyof StepColumns]: StepColumns[K][number] } & {
  /** Pushed lines in the row. */
  pushed: number;
  /** Lines of the file in the row: a pushed line may stand for several. */
  count: number;
  /** Of the lines whose images are known, and the seconds that they took. */
  images: number;
  seconds: number;
};

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
const shortOrNull = (value: Figure): Figure => (value === null ? null : short(value));

function rowOf(line: StepLine, images = 0): Row {
  const loss = shortOrNull(line.loss);
  const imagesPerSec = short(line.images_per_sec);
  const { merged } = line;
  const overAll = merged ? (merged.images_per_sec_over_all ?? 0) : line.images_per_sec;
  return {
    pushed: 1,
    count: merged?.lines ?? 1,
    images: overAll > 0 ? images : 0,
    seconds: overAll > 0 ? images / overAll : 0,
    step: line.step,
    time: Math.round(line.time * 1000) / 1000,
    epoch: short(line.epoch),
    loss,
    lossMin: merged ? shortOrNull(merged.loss_min) : loss,
    lossMax: merged ? shortOrNull(merged.loss_max) : loss,
    top1: shortOrNull(line.top1),
    lr: short(line.lr),
    imagesPerSec,
    imagesPerSecMin: merged ? short(merged.images_per_sec_min) : imagesPerSec,
    imagesPerSecMax: merged ? short(merged.images_per_sec_max) : imagesPerSec,
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
    pushed: a.pushed + b.pushed,
    count,
    images: a.images + b.images,
    seconds: a.seconds + b.seconds,
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

/** The step lines of a run in at most `capacity` rows. */
export class StepTable {
  private rows: Row[] = [];
  private stride = 1;
  private revision = 0;
  /** Counts up with every change. */
  private changes = 0;
  private median: { changes: number; value: number | undefined } | undefined;

  constructor(readonly capacity = 2048) {
    if (!Number.isInteger(capacity) || capacity < 2) throw new RangeError('a table needs at least two rows');
  }

  /** `images` are those of the line's steps, where they are known. */
  push(line: StepLine, images?: number): void {
    this.changes++;
    const row = rowOf(line, images);
    let last = this.rows.at(-1);
    if (this.rows.length === this.capacity && last?.pushed === this.stride) {
      this.halve();
      last = this.rows.at(-1);
    }
    if (last !== undefined && last.pushed < this.stride) {
      this.rows[this.rows.length - 1] = mergeRows(last, row);
    } else this.rows.push(row);
  }

  /**
   * Drops what stands at `step` or later: a newer generation repeats it. A merged row that reaches
   * there goes whole.
   */
  truncate(step: number): void {
    const keep = this.rows.findIndex((row) => row.step >= step);
    if (keep < 0) return;
    this.rows.length = keep;
    this.revision++;
    this.changes++;
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

  /** The least loss of any line; undefined where no line has one. */
  leastLoss(): number | undefined {
    return this.rows.reduce<number | undefined>(
      (least, { lossMin }) => (lossMin === null ? least : Math.min(least ?? lossMin, lossMin)),
      undefined,
    );
  }

  /** All images over the seconds that their steps took; checkpoint writing is left out of it. */
  imagesPerSec(): number | undefined {
    const images = this.rows.reduce((sum, row) => sum + row.images, 0);
    const seconds = this.rows.reduce((sum, row) => sum + row.seconds, 0);
    return seconds > 0 ? images / seconds : undefined;
  }

  /**
   * Median of the rows' images/s, the first left out where there are more: it holds the warming up.
   * Up to `capacity` lines that is the median of the lines; over it, of means of neighbouring
   * lines.
   */
  medianImagesPerSec(): number | undefined {
    const { changes } = this;
    if (this.median?.changes !== changes) this.median = { changes, value: this.findMedian() };
    return this.median.value;
  }

  private findMedian(): number | undefined {
    const { length } = this.rows;
    const rates = new Float64Array(length);
    for (const [index, row] of this.rows.entries()) rates[index] = row.imagesPerSec;
    const settled = rates.subarray(length > 1 ? 1 : 0).sort();
    const [lower, upper] = [settled[(settled.length - 1) >> 1], settled[settled.length >> 1]];
    return lower === undefined || upper === undefined ? undefined : (lower + upper) / 2;
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
