// A bake-off that was ended: which one goes on with it, and with what.
import { expect, it } from 'vitest';
import { bakeOffNotes, keptSentence } from '../../../../src/core/bakeoff/pages.js';
import {
  cancelledNow,
  isWhole,
  reopened,
  sameBakeOff,
  untried,
  withWinner,
  type BakeOffResult,
  type CandidateResult,
} from '../../../../src/core/bakeoff/result.js';

const candidates = [1, 2, 4].map((ranks) => ({ ranks, flags: [] as string[] }));

/** With so many rounds behind it. */
function measured(at: number, rates: number[], rounds: number): CandidateResult {
  const one = untried(candidates[at] ?? { ranks: 1, flags: [] }, 'trainyard run');
  const imagesPerSec = { median: rates[0] ?? 0, low: 0, high: 0 };
  const runs = Array.from({ length: rounds }, (_, round) => ({
    ...{ round: round + 1, steps: 10, seconds: 1, run: 'r', imagesPerSec },
  }));
  return rounds === 0 ? one : { ...one, runs, rates, outcome: 'dropped' };
}

/** Ended in the second round, in which the first candidate was measured and the second not yet. */
const ended: BakeOffResult = withWinner({
  ...{ version: 1, profile: 'lab', words: ['train'], created: 1, budget: 600, spent: 120 },
  ...{ model: 'mlp', device: 'cpu', leftOut: [], running: null, cancelled: true },
  candidates: [
    measured(0, [100, 101, 99], 2),
    measured(1, [98, 99, 97], 1),
    { ...measured(2, [10, 11, 9], 1), why: 'It was 90.0% slower than the best of its round.' },
  ],
  rounds: [
    { candidates: 3, seconds: 10, names: ['1 rank', '2 ranks', '4 ranks'] },
    { candidates: 2, seconds: 20, names: ['1 rank', '2 ranks'] },
  ],
});

it('goes on with the same training and candidates alone', () => {
  const asked = { profile: 'lab', words: ['train'], candidates };
  expect(sameBakeOff(ended, asked)).toBe(true);
  expect(sameBakeOff(ended, { ...asked, profile: 'other' })).toBe(false);
  expect(sameBakeOff(ended, { ...asked, words: ['train', '--model', 'mlp'] })).toBe(false);
  expect(sameBakeOff(ended, { ...asked, candidates: candidates.slice(1) })).toBe(false);
  const nothing = ended.candidates.map((one) => ({ ...one, runs: [] }));
  expect(sameBakeOff({ ...ended, candidates: nothing }, asked)).toBe(false);
});

it('is whole where it has a winner and nobody ended it', () => {
  expect(isWhole(ended)).toBe(false);
  expect(isWhole({ ...ended, cancelled: false })).toBe(true);
  expect(isWhole({ ...ended, cancelled: false, candidates: [measured(0, [1], 1)] })).toBe(false);
});

it('has whoever was in the last round in it again, and leaves the others', () => {
  expect(ended.candidates.map(({ outcome }) => outcome)).toEqual(['won', 'dropped', 'dropped']);
  const again = reopened(ended);
  expect(again.cancelled).toBe(false);
  expect(again.candidates.map(({ outcome, why }) => [outcome, why])).toEqual([
    ['dropped', ''],
    ['dropped', ''],
    ['dropped', 'It was 90.0% slower than the best of its round.'],
  ]);
  expect(again.candidates[0]?.rates).toEqual([100, 101, 99]);
});

it('says what is kept', () => {
  expect(keptSentence(ended)).toBe(
    'kept are 4 runs of 3 of 3 candidates, in 2 rounds; 2.0 minutes of 10.0 minutes have passed.',
  );
});

it('says that the user cancelled, and not that there was no time', () => {
  const [first] = ended.rounds;
  const begun = { ...ended, cancelled: false, rounds: first ? [first] : [] };
  const inFirst = withWinner(
    cancelledNow({ ...begun, candidates: [measured(0, [100], 1), measured(1, [], 0), measured(2, [], 0)] }),
  );
  expect(inFirst.candidates.map(({ why }) => why)).toEqual([
    'It was the fastest.',
    'The search was cancelled before its first run.',
    'The search was cancelled before its first run.',
  ]);
  expect(bakeOffNotes(inFirst)).toContain('2 candidates had no run before the search was cancelled.');
  expect(bakeOffNotes(inFirst).join(' ')).not.toContain('no time');
});

it('says that there was no time for what the first round left out, also where a later one was cancelled', () => {
  const later = cancelledNow({ ...ended, candidates: [measured(0, [100], 2), measured(1, [], 0)] });
  expect(later.candidates[1]?.why).toBe('There was no time for it.');
  expect(bakeOffNotes(later)).toContain('There was no time for 1 candidate.');
  const cut = { ...measured(1, [90], 1), why: '' };
  const goesOn = withWinner(cancelledNow({ ...ended, candidates: [measured(0, [100], 2), cut] }));
  expect(goesOn.candidates[1]?.why).toBe('This candidate was to go on when the search was cancelled.');
});
