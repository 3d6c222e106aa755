// Exponential moving average, debiased: the first values are not pulled towards zero.

export interface Average {
  /** What the line shows; null where the raw value is missing. */
  values: (number | null)[];
  /** Sum and weight after each row, so that new rows need no look at the old ones. */
  sums: number[];
  weights: number[];
}

export const emptyAverage = (): Average => ({ values: [], sums: [], weights: [] });

/** Brings `average` up to date with `raw`, of which rows from `from` on are new. In place. */
export function smooth(
  average: Average,
  raw: readonly (number | null)[],
  factor: number,
  from: number,
): void {
  const start = Math.min(from, average.values.length);
  average.values.length = start;
  average.sums.length = start;
  average.weights.length = start;
  let sum = start > 0 ? (average.sums[start - 1] ?? 0) : 0;
  let weight = start > 0 ? (average.weights[start - 1] ?? 0) : 0;
  for (let index = start; index < raw.length; index++) {
    const value = raw[index] ?? null;
    if (value !== null) {
      sum = sum * factor + value * (1 - factor);
      weight = weight * factor + (1 - factor);
    }
    average.sums.push(sum);
    average.weights.push(weight);
    average.values.push(value === null ? null : sum / weight);
  }
}
