// Which rows a table shows of many.

/**
 * Positions of at most `most` rows out of `length`, evenly spread, the first and the newest
 * included.
 */
export function sampleRows(length: number, most = 50): number[] {
  if (length <= most) return Array.from({ length }, (_, index) => index);
  if (most <= 1) return [length - 1];
  return Array.from({ length: most }, (_, index) => Math.round((index * (length - 1)) / (most - 1)));
}

/** The last position whose value is at most `limit`, -1 when there is none. `sorted` rises. */
export function lastAtMost(sorted: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? Infinity) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
