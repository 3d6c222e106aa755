// What a chart's y axis shows.

/** How the axis of one chart is chosen. */
export interface AxisWish {
  fromZero: boolean;
  log: boolean;
  /** A few values far away from the others are left out of sight. */
  hideOutliers: boolean;
  /** Values all above this do not need the zero; the axis then ends at 1 at most. */
  nearTop?: number;
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

/** `values`: all that are in sight, in any order; none of them is NaN. */
export function axisRange(values: Float64Array, wish: AxisWish): AxisRange {
  if (values.length === 0) return { range: [0, 1], hidden: 0 };
  const sorted = values.slice().sort();
  const [low, high] = wish.hideOutliers ? withoutOutliers(sorted) : ends(sorted);
  const range = roomAround(low, high, sorted, wish);
  const isOutside = (value: number): boolean =>
    (value < low && value < range[0]) || (value > high && value > range[1]);
  return { range, hidden: sorted.reduce((count, value) => count + Number(isOutside(value)), 0) };
}

const ends = (sorted: Float64Array): [number, number] => [sorted[0] ?? 0, sorted.at(-1) ?? 0];

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

function roomAround(low: number, high: number, sorted: Float64Array, wish: AxisWish): [number, number] {
  if (wish.log) {
    const positive = sorted.find((value) => value > 0 && value >= low) ?? Math.max(high, 1e-6) / 1e4;
    return [positive * 0.9, Math.max(high, positive) * 1.1];
  }
  const isNearTop = wish.nearTop !== undefined && low >= wish.nearTop && high <= 1;
  const start = wish.fromZero && !isNearTop ? Math.min(0, low) : low;
  const room = high > start ? (high - start) * 0.06 : Math.abs(high) * 0.1 || 1;
  if (isNearTop) return [start - room, Math.min(1, high + room)];
  return [wish.fromZero ? start : start - room, high + room];
}
