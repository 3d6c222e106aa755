// What a bake-off comes to, as its file keeps it.
import type { Spread } from '../scaling/series.js';
import { candidateName, type Candidate, type LeftOut } from './candidates.js';
import { levelWithBest, medianOf } from './halving.js';

/** One run of a candidate. */
interface CandidateRun {
  /** From 1. */
  round: number;
  steps: number;
  /** Of training that counts, without the warming up. */
  seconds: number;
  imagesPerSec: Spread;
  run: string;
}

/** `level`: it cannot be told apart from the winner. `notTried`: time was over, or it was ended. */
export type Outcome = 'won' | 'level' | 'dropped' | 'failed' | 'same' | 'notTried';

/** A candidate with what was measured of it. */
export interface CandidateResult extends Candidate {
  name: string;
  /** Starts a training with these settings. */
  command: string;
  runs: CandidateRun[];
  /** Images/s of parts of all its runs. */
  rates: number[];
  outcome: Outcome;
  /** One sentence. */
  why: string;
}

/** Times in seconds. */
export interface BakeOffResult {
  version: 1;
  profile: string;
  words: string[];
  /** Since the epoch. */
  created: number;
  /** How long it was to take, and took. */
  budget: number;
  spent: number;
  model: string | null;
  device: string | null;
  candidates: CandidateResult[];
  leftOut: LeftOut[];
  /** How many candidates each round had, and for how long each was to train. */
  rounds: { candidates: number; seconds: number }[];
  /** Ended by the user. */
  cancelled: boolean;
}

/** Images/s of all runs of a candidate; undefined where it was not measured. */
export const imagesPerSecOf = ({ rates }: Pick<CandidateResult, 'rates'>): Spread | undefined =>
  rates.length === 0 ? undefined : medianOf(rates);

/** The winner; undefined where nothing was measured. */
export const winnerOf = ({ candidates }: BakeOffResult): CandidateResult | undefined =>
  candidates.find(({ outcome }) => outcome === 'won');

/**
 * Names the winner among those that ran in the last round, and those that were dropped before it and
 * are faster than all of these beyond doubt: `level` are those beside it that cannot be told apart.
 */
export function withWinner(result: BakeOffResult): BakeOffResult {
  const sound = result.candidates.filter(({ runs, outcome }) => runs.length > 0 && outcome !== 'failed');
  const lastOf = ({ runs }: CandidateResult): number => runs.at(-1)?.round ?? 0;
  const last = Math.max(0, ...sound.map(lastOf));
  const of = (one: CandidateResult): Spread => medianOf(one.rates);
  const ran = sound.filter((one) => lastOf(one) === last);
  const fastest = Math.max(...ran.map((one) => of(one).high));
  const final = sound.filter((one) => ran.includes(one) || of(one).low > fastest);
  const level = levelWithBest(final, of);
  const [best] = level;
  if (!best) return result;
  const { median } = of(best);
  const candidates = result.candidates.map((one): CandidateResult => {
    if (one === best) return { ...one, outcome: 'won', why: 'It was the fastest.' };
    if (level.includes(one)) return { ...one, outcome: 'level', why: 'It cannot be told apart from it.' };
    if (final.includes(one)) return { ...one, outcome: 'dropped', why: slower(of(one).median, median) };
    return one.why === '' ? { ...one, why: 'There was no time to go on with it.' } : one;
  });
  return { ...result, candidates };
}

/** `12.3% slower`, as a sentence. */
export const slower = (rate: number, best: number): string =>
  `It was ${(100 * (1 - rate / best)).toFixed(1)}% slower than the best of its round.`;

/** A candidate before its first run. */
export const untried = (candidate: Candidate, command: string): CandidateResult => ({
  ...candidate,
  name: candidateName(candidate),
  command,
  runs: [],
  rates: [],
  outcome: 'notTried',
  why: 'There was no time for it.',
});
