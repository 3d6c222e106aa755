// Figures of several measurements.

/**
 * The middle one; of an even number the upper of the two.
 * @param {readonly number[]} values
 */
export function median(values) {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}
