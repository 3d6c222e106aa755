// One curve as an experiment tracker gets it, and which points of it the tracker has.

/** `time` is in milliseconds since the epoch, a whole number. */
export interface Point {
  step: number;
  time: number;
  value: number;
}

/** Points in the order of their steps, one for each step. */
export class ExportSeries {
  private readonly list: Point[] = [];
  private sent = new Set<number>();
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
    return this.list.filter(({ step }) => !this.sent.has(step));
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
    if (isThere && this.sent.has(point.step)) this.known = false;
  }

  /** Removes the points of later steps than `after`. */
  cut(after: number): void {
    for (let last = this.list.at(-1); last && last.step > after; last = this.list.at(-1)) {
      this.list.pop();
      if (this.sent.has(last.step)) this.known = false;
    }
  }

  /**
   * `there` has the tracker's values by step. False, with nothing known, where one of them no longer
   * stands.
   */
  match(there: ReadonlyMap<number, number>): boolean {
    if (this.appendOnly) {
      const last = there.size === 0 ? -Infinity : Math.max(...there.keys());
      this.sent = new Set(this.list.map(({ step }) => step).filter((step) => step <= last));
    } else {
      const standing = this.list.filter(({ step, value }) => there.get(step) === value);
      if (standing.length < there.size) return false;
      this.sent = new Set(there.keys());
    }
    this.known = true;
    return true;
  }

  /** The tracker has all points and no other. */
  matchAll(): void {
    this.sent = new Set(this.list.map(({ step }) => step));
    this.known = true;
  }

  /** What the tracker has is to be asked for again. */
  forget(): void {
    this.known = false;
  }
}
