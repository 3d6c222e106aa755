// What a chart's y axis shows.

/** How the axis of one chart is chosen. */
export interface AxisWish {
  fromZero: boolean;
  log: boolean;
  /** A few values far away from the others are left out of sight. */
  hideOutliers: boolean;
  /** Of shares, whose axis ends at 1 at most: values all above this do not need the zero. */
  nearTop?: number;
}

/** The axis of accuracies. */
export const shareAxis = { fromZero: true, nearTop: 0.8 } as const;

/** What is in sight of one curve, in the order of the x axis; no value is NaN. */
export interface CurveInSight {
  values: Float64Array;
  /** The first and the last value are never out of sight: evaluations are few. */
  keepsEnds?: true;
}

export interface AxisRange {
  range: [number, number];
  /** How many values lie outside. */
  hidden: number;
}

/** With fewer values nobody can say which of them are far away. */
const fewest = 10;
/** A value is far away when it lies further out than this many times that range. */
const farAway = 1.5;

/** Which values are far away is judged of each curve by itself. */
export function axisRange(curves: readonly CurveInSight[], wish: AxisWish): AxisRange {
  const drawn = curves.filter(({ values }) => values.length > 0);
  if (drawn.length === 0) return { range: [0, 1], hidden: 0 };
  const shown = drawn.map(({ values, keepsEnds }): [number, number] => {
    if (!wish.hideOutliers) return [least(values), most(values)];
    const [low, high] = withoutOutliers(values.slice().sort());
    if (keepsEnds !== true) return [low, high];
    const [first, last] = ends(values);
    return [Math.min(low, first, last), Math.max(high, first, last)];
  });
  const low = Math.min(...shown.map(([bottom]) => bottom));
  const high = Math.max(...shown.map(([, top]) => top));
  const range = roomAround(low, high, drawn, wish);
  if (!wish.hideOutliers) return { range, hidden: 0 };
  const isOutside = (value: number): boolean =>
    (value < low && value < range[0]) || (value > high && value > range[1]);
  const outside = (values: Float64Array): number =>
    values.reduce((count, value) => count + Number(isOutside(value)), 0);
  return { range, hidden: drawn.reduce((count, { values }) => count + outside(values), 0) };
}

const least = (values: Float64Array): number => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values: Float64Array): number => values.reduce((a, b) => Math.max(a, b), -Infinity);

const ends = (values: Float64Array): [number, number] => [values[0] ?? 0, values.at(-1) ?? 0];

/** The values that are not far away from the range of the 2nd to the 98th percentile. */
function withoutOutliers(sorted: Float64Array): [number, number] {
  const [min, max] = ends(sorted);
  if (sorted.length < fewest) return [min, max];
  const last = sorted.length - 1;
  const low = sorted[Math.ceil(last * 0.02)] ?? min;
  const high = sorted[Math.floor(last * 0.98)] ?? max;
  const far = farAway * (high - low);
  if (far <= 0) return [min, max];
  return [
    sorted.find((value) => value >= low - far) ?? min,
    sorted.findLast((value) => value <= high + far) ?? max,
  ];
}

function roomAround(
  low: number,
  high: number,
  drawn: readonly CurveInSight[],
  wish: AxisWish,
): [number, number] {
  if (wish.log) {
    const inSight = drawn.map(({ values }) => least(values.filter((value) => value > 0 && value >= low)));
    const found = Math.min(...inSight);
    const positive = found === Infinity ? Math.max(high, 1e-6) / 1e4 : found;
    return [positive * 0.9, Math.max(high, positive) * 1.1];
  }
  const { nearTop } = wish;
  const isShare = nearTop !== undefined && high <= 1;
  const isNearTop = isShare && low >= nearTop;
  const start = wish.fromZero && !isNearTop ? Math.min(0, low) : low;
  const room = high > start ? (high - start) * 0.06 : Math.abs(high) * 0.1 || 1;
  const top = isShare ? Math.min(1, high + room) : high + room;
  return [wish.fromZero && !isNearTop ? start : start - room, top];
}
