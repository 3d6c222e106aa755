// Rows of rising columns, found by halving; and values between two rows.

/** The last position whose value is below `limit`, -1 when there is none. `sorted` rises. */
export function lastBefore(sorted: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? Infinity) < limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The last position whose value is at most `limit`, -1 when there is none. `sorted` rises. */
export const lastAtMost = (sorted: ArrayLike<number>, limit: number): number =>
  lastOf(sorted.length, (row) => (sorted[row] ?? Infinity) <= limit);

/** The last of `count` rows for which something holds that holds for all rows before it; -1: none. */
export function lastOf(count: number, holds: (row: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Where `value` of the rising column `from` lies in column `to`: on the line between its
 * neighbours, at an end outside of them.
 */
export function between(from: ArrayLike<number>, to: ArrayLike<number>, value: number): number {
  const row = lastAtMost(from, value);
  const [low, high] = [from[row], from[row + 1]];
  if (low === undefined) return to[0] ?? 0;
  const start = to[row] ?? 0;
  if (high === undefined || high <= low) return start;
  return start + (((to[row + 1] ?? start) - start) * (value - low)) / (high - low);
}
