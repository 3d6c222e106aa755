// What a bake-off comes to, as its file keeps it.
import * as z from 'zod/mini';
import { nodePathSchema } from '../base/nodePathSchema.js';
import type { Spread } from '../scaling/series.js';
import { candidateName, type Candidate } from './candidates.js';
import { levelWithBest, medianOf } from './halving.js';

const count = z.int().check(z.gte(0));
const texts = z.array(z.string());
const runNameSchema = z.object({ id: z.string(), dir: nodePathSchema });

/** `round` counts from 1; `seconds` are those of training that count, without the warming up. */
const candidateRunSchema = z.object({
  round: count,
  steps: count,
  seconds: z.number(),
  imagesPerSec: z.object({ median: z.number(), low: z.number(), high: z.number() }),
  run: z.string(),
});

/** `level`: it cannot be told apart from the winner. `notTried`: time was over, or it was ended. */
const outcomeSchema = z.enum(['won', 'level', 'dropped', 'failed', 'same', 'notTried']);

/**
 * `command` starts a training with these settings, `rates` are images/s of parts of all its runs,
 * and `why` is one sentence.
 */
const candidateSchema = z.object({
  ranks: count,
  flags: texts,
  name: z.string(),
  command: z.string(),
  runs: z.array(candidateRunSchema),
  rates: z.array(z.number()),
  outcome: outcomeSchema,
  why: z.string(),
});

/** Of bakeoff.json. Times in seconds, `created` since the epoch. */
export const bakeOffSchema = z.object({
  version: z.literal(1),
  profile: z.string(),
  words: texts,
  created: z.number(),
  /** How long it was to take, and took. */
  budget: z.number(),
  spent: z.number(),
  model: z.nullable(z.string()),
  device: z.nullable(z.string()),
  candidates: z.array(candidateSchema),
  leftOut: z.array(z.object({ what: z.string(), why: z.string() })),
  /** Which candidates each round had, and for how long each was to train. */
  rounds: z.array(z.object({ candidates: count, seconds: z.number(), names: texts })),
  /** The run under way, or the one that was when it was ended. */
  running: z.nullable(runNameSchema),
  /** Ended by the user. */
  cancelled: z.boolean(),
});

/** What became of a candidate. */
export type Outcome = z.infer<typeof outcomeSchema>;
/** A candidate with what was measured of it. */
export type CandidateResult = z.infer<typeof candidateSchema>;
/** A bake-off as its file keeps it. */
export type BakeOffResult = z.infer<typeof bakeOffSchema>;

/** Whether it was brought to its end. */
export const isWhole = (result: BakeOffResult): boolean =>
  !result.cancelled && winnerOf(result) !== undefined;

/** Whether the one may go on with what the other measured. */
export const sameBakeOff = (
  earlier: BakeOffResult,
  {
    profile,
    words,
    candidates,
  }: Pick<BakeOffResult, 'profile' | 'words'> & { candidates: readonly Candidate[] },
): boolean =>
  earlier.profile === profile &&
  earlier.candidates.some(({ runs }) => runs.length > 0) &&
  JSON.stringify([earlier.words, earlier.candidates.map(({ name }) => name)]) ===
    JSON.stringify([words, candidates.map(candidateName)]);

/** As it was before it was ended: whoever was in the last round is in it again. */
export function reopened(earlier: BakeOffResult): BakeOffResult {
  const names = earlier.rounds.at(-1)?.names ?? [];
  const candidates = earlier.candidates.map((one): CandidateResult => {
    if (!names.includes(one.name) || one.outcome === 'failed' || one.outcome === 'same') return one;
    return one.runs.length === 0 ? untried(one, one.command) : { ...one, outcome: 'dropped', why: '' };
  });
  return { ...earlier, candidates, cancelled: false };
}

/** Images/s of all runs of a candidate; undefined where it was not measured. */
export const imagesPerSecOf = ({ rates }: Pick<CandidateResult, 'rates'>): Spread | undefined =>
  rates.length === 0 ? undefined : medianOf(rates);

/** The winner; undefined where nothing was measured. */
export const winnerOf = ({ candidates }: BakeOffResult): CandidateResult | undefined =>
  candidates.find(({ outcome }) => outcome === 'won');

/** The training with the settings of the winner, as a start takes it. Undefined where none won. */
export function bestRunOf(
  result: BakeOffResult,
): { profile: string; words: string[]; ranks: number } | undefined {
  const winner = winnerOf(result);
  if (!winner) return undefined;
  return { profile: result.profile, words: [...result.words, ...winner.flags], ranks: winner.ranks };
}

/**
 * Names the winner among those that ran in the last round, and those that were dropped before it
 * and are faster than all of these beyond doubt: `level` are those beside it that cannot be told
 * apart.
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
    if (one.why !== '') return one;
    const why = result.cancelled
      ? 'This candidate was to go on when the search was cancelled.'
      : noTimeToGoOn;
    return { ...one, why };
  });
  return { ...result, candidates };
}

const noTimeToGoOn = 'There was no time to go on with it.';

/** The same, ended by the user just now. */
export function cancelledNow(result: BakeOffResult): BakeOffResult {
  if (!isCutShort({ ...result, cancelled: true })) return { ...result, cancelled: true };
  const candidates = result.candidates.map((one): CandidateResult =>
    one.outcome === 'notTried' ? { ...one, why: 'The search was cancelled before its first run.' } : one,
  );
  return { ...result, candidates, cancelled: true };
}

/** Whether the user ended it while the first round still had candidates to try. */
export const isCutShort = ({ cancelled, rounds }: BakeOffResult): boolean => cancelled && rounds.length < 2;

/** `12.3% slower`, as a sentence. */
export const slower = (rate: number, best: number): string =>
  `It was ${(100 * (1 - rate / best)).toFixed(1)}% slower than the best of its round.`;

/** A candidate before its first run. */
export const untried = (candidate: Candidate, command: string): CandidateResult => ({
  ranks: candidate.ranks,
  flags: candidate.flags,
  name: candidateName(candidate),
  command,
  runs: [],
  rates: [],
  outcome: 'notTried',
  why: 'There was no time for it.',
});
