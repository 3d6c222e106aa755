// A curve that never grows beyond a fixed number of points, however long the run.

export interface Point {
  /** Of the last value in this point. */
  x: number;
  /** Mean of its values, weighted by nothing but their number. */
  mean: number;
  min: number;
  max: number;
  /** The value that came last. */
  last: number;
  count: number;
}

const merge = (a: Point, b: Point): Point => {
  const count = a.count + b.count;
  return {
    x: b.x,
    mean: (a.mean * a.count + b.mean * b.count) / count,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    last: b.last,
    count,
  };
};

/**
 * Values with growing x. When `capacity` points are full, neighbours are merged, so that every point again stands for
 * equally many values; the least and the greatest value of any stretch are never lost.
 */
export class Series {
  private points: Point[] = [];
  private stride = 1;

  constructor(readonly capacity = 2048) {
    if (!Number.isInteger(capacity) || capacity < 2) {
      throw new RangeError('a series needs room for two points');
    }
  }

  push(x: number, value: number): void {
    const point: Point = { x, mean: value, min: value, max: value, last: value, count: 1 };
    const last = this.points.at(-1);
    if (last !== undefined && last.count < this.stride) {
      this.points[this.points.length - 1] = merge(last, point);
      return;
    }
    if (this.points.length === this.capacity) this.halve();
    const open = this.points.at(-1);
    if (open !== undefined && open.count < this.stride) {
      this.points[this.points.length - 1] = merge(open, point);
    } else this.points.push(point);
  }

  /** Drops what stands at `x` or later. A merged point that reaches there goes as a whole. */
  truncate(x: number): void {
    const keep = this.points.findIndex((point) => point.x >= x);
    if (keep >= 0) this.points.length = keep;
  }

  get length(): number {
    return this.points.length;
  }

  get last(): Point | undefined {
    return this.points.at(-1);
  }

  toArray(): readonly Point[] {
    return this.points;
  }

  private halve(): void {
    const halved: Point[] = [];
    for (let index = 0; index < this.points.length; index += 2) {
      const [a, b] = this.points.slice(index, index + 2);
      if (a) halved.push(b ? merge(a, b) : a);
    }
    this.points = halved;
    this.stride *= 2;
  }
}
