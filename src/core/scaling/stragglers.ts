// All replicas wait for the slowest one: a step takes the maximum of as many draws as replicas.

/**
 * How much longer than the mean of `samples` the longest of `draws` from them takes on average: 1 or
 * more. 1 where there are no samples.
 */
export function stragglerFactor(samples: readonly number[], draws: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const count = sorted.length;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / count;
  if (count === 0 || !(mean > 0)) return 1;
  // The i-th smallest is the longest of the draws with this probability.
  const longest = sorted.reduce(
    (sum, value, at) => sum + value * (((at + 1) / count) ** draws - (at / count) ** draws),
    0,
  );
  return longest / mean;
}
