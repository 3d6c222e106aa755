// One curve as an experiment tracker gets it, and how much of it the tracker has.

/** `time` is in milliseconds since the epoch, a whole number. */
export interface Point {
  step: number;
  time: number;
  value: number;
}

/** Points in the order of their steps, one for each step. */
export class ExportSeries {
  private readonly list: Point[] = [];
  private first = 0;
  private known = false;

  /** `appendOnly`: a point that the tracker has never goes, so its last one tells what it has. */
  constructor(readonly appendOnly = false) {}

  get points(): readonly Point[] {
    return this.list;
  }

  /** Whether it is known which points the tracker has: `matched` has said so, and it still holds. */
  get isMatched(): boolean {
    return this.known;
  }

  /** Those that the tracker lacks, once `isMatched`. */
  get unsent(): readonly Point[] {
    return this.list.slice(this.first);
  }

  /** Takes the place of the point of the same step. */
  put(point: Point): void {
    const last = this.list.at(-1);
    if (last === undefined || last.step < point.step) {
      this.list.push(point);
      return;
    }
    if (this.appendOnly) return;
    const at = this.list.findIndex(({ step }) => step >= point.step);
    const isThere = this.list[at]?.step === point.step;
    this.list.splice(at, isThere ? 1 : 0, point);
    if (at < this.first) this.known = false;
  }

  /** Removes the points of later steps than `after`. */
  cut(after: number): void {
    while ((this.list.at(-1)?.step ?? -Infinity) > after) this.list.pop();
    if (this.list.length < this.first) this.known = false;
  }

  /** The tracker has the first `count` points and no other. */
  matched(count: number): void {
    this.first = count;
    this.known = true;
  }

  /** What the tracker has is to be asked for again. */
  forget(): void {
    this.known = false;
  }
}
