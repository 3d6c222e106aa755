// A and B by turns, so that what else the machine does meets both; medians of them, and what they
// are of one another.
export const rounds = 5;

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/**
 * `measures` by name; each measured once a round. Milliseconds by name, a list each; the first
 * round only warms up.
 */
export async function byTurns(measures, onRound) {
  const times = Object.fromEntries(Object.keys(measures).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of Object.entries(measures)) {
      const ms = await measure();
      if (round > 0) times[name].push(ms);
    }
    if (round > 0)
      onRound(
        round,
        Object.entries(times)
          .map(([name, list]) => `${name} ${list.at(-1).toFixed(0)} ms`)
          .join(', '),
      );
  }
  return times;
}

/**
 * How fast ours is beside another: the median of what the rounds say, each against its own
 * neighbour.
 */
export const speedBeside = (ours, other) => median(ours.map((ms, round) => other[round] / ms));
