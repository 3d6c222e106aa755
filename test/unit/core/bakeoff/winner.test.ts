// Who wins a bake-off.
import { expect, it } from 'vitest';
import { untried, winnerOf, withWinner, type BakeOffResult } from '../../../../src/core/bakeoff/result.js';

/** A candidate with these images/s, which ran last in this round. */
function ran(ranks: number, round: number, rates: readonly number[]): BakeOffResult['candidates'][number] {
  const [median = 0, low = 0, high = 0] = rates;
  return {
    ...untried({ ranks, flags: [] }, ''),
    runs: [{ round, steps: 9, seconds: 1, imagesPerSec: { median, low, high }, run: `run-${ranks}` }],
    rates: [...rates],
    outcome: 'dropped',
  };
}

const result = (candidates: BakeOffResult['candidates']): BakeOffResult => ({
  ...{ version: 1, profile: 'lab', words: ['train'], created: 0, budget: 60, spent: 60, running: null },
  ...{ model: null, device: null, candidates, leftOut: [], rounds: [], cancelled: false },
});
const outcomes = (of: BakeOffResult): string[] => of.candidates.map(({ outcome }) => outcome);

it('is the fastest of the last round, and those near it are level', () => {
  const found = withWinner(result([ran(1, 1, [150, 151]), ran(2, 2, [198, 200]), ran(4, 2, [199, 201])]));
  expect(winnerOf(found)?.ranks).toBe(4);
  expect(outcomes(found)).toEqual(['dropped', 'level', 'won']);
});

it('is one that was dropped only where it is faster beyond doubt', () => {
  const doubtful = withWinner(result([ran(1, 1, [203, 204]), ran(2, 2, [198, 200])]));
  expect(winnerOf(doubtful)?.ranks).toBe(2);
  const clear = withWinner(result([ran(1, 1, [220, 221]), ran(2, 2, [198, 200])]));
  expect(winnerOf(clear)?.ranks).toBe(1);
  expect(outcomes(clear)).toEqual(['won', 'dropped']);
});
