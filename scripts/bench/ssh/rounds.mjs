// A and B are interleaved, so that what else the machine does meets both; medians of them, and what
// they are of one another.
import { median } from '../support/statistics.mjs';

export const rounds = 5;

/** @typedef {'ours' | 'ssh' | 'sameCipher'} Name */
/** @typedef {(round: number, text: string) => void} OnRound */

/**
 * `measures` by name; each measured once a round. Milliseconds by name, a list each; the first
 * round only warms up.
 * @template {Name} Names
 * @param {Record<Names, () => Promise<number>>} measures
 * @param {OnRound} onRound
 * @returns {Promise<Record<Names, number[]>>}
 */
export async function byTurns(measures, onRound) {
  /** @type {Record<string, number[]>} */
  const times = {};
  for (let round = 0; round <= rounds; round++) {
    const said = [];
    for (const [name, measure] of Object.entries(measures)) {
      const ms = await measure();
      said.push(`${name} ${ms.toFixed(0)} ms`);
      if (round > 0) (times[name] ??= []).push(ms);
    }
    if (round > 0) onRound(round, said.join(', '));
  }
  return /** @type {Record<Names, number[]>} */ (times);
}

/**
 * How fast ours is beside another: the median of what the rounds say, each against its own
 * neighbour.
 * @param {readonly number[]} ours
 * @param {readonly number[]} other
 */
export const speedBeside = (ours, other) => median(ours.map((ms, round) => (other[round] ?? NaN) / ms));
