// A sweep as its file keeps it: what is tried, and what became of each trial.
import * as z from 'zod/mini';
import type { RunEntry } from '../contracts/agentApi.js';
import { nodePathSchema } from '../base/nodePathSchema.js';
import { longestTag, tagsOf } from '../plan/request/about.js';
import { valuesText, type Values } from './grid.js';
import { byMetric, goals } from './metric.js';

const count = z.int().check(z.gte(0));
const texts = z.array(z.string());
const figure = z.nullable(z.number());

/** `starting`: its run was asked for, and may be there or not. `pruned`: stopped for being poor. */
export const trialStatusSchema = z.enum([
  'waiting',
  'starting',
  'running',
  'finished',
  'stopped',
  'pruned',
  'failed',
  'interrupted',
]);

/**
 * `number` counts from 1. `why` is one line, empty where nothing is wrong. `command` starts the
 * same run by itself. A figure that is not known is null. `seconds`: how long it held its nodes.
 */
const trialSchema = z.object({
  number: count,
  name: z.string(),
  values: z.record(z.string(), z.string()),
  status: trialStatusSchema,
  run: z.nullable(z.object({ id: z.string(), dir: nodePathSchema })),
  /** Where it runs, where the trials are shared out among hosts. */
  host: z.optional(z.string()),
  /** Ids of its runs before this one. */
  earlier: z.optional(texts),
  why: z.string(),
  command: z.string(),
  best: figure,
  last: figure,
  imagesPerSec: figure,
  seconds: figure,
  cost: figure,
  currency: z.nullable(z.string()),
  /** Names of what an own program reported. */
  reported: texts,
  /** Its best value up to each place at which trials are compared. */
  marks: z.optional(z.array(figure)),
  /** Why its run was asked to stop: it did worse than others. */
  poor: z.optional(z.string()),
});

/** The command line that made a sweep: its flags by their names, and what stands after them. */
const askedSchema = z.object({
  profile: z.string(),
  /** Of a flag without a value an empty text. */
  flags: z.record(z.string(), texts),
  rest: texts,
});

/** Of sweep.json. `created` is in seconds since the epoch. */
export const sweepSchema = z.object({
  version: z.literal(1),
  name: z.string(),
  profile: z.string(),
  created: z.number(),
  asked: askedSchema,
  /** The folder of this machine against which paths are read. */
  cwd: z.string(),
  metric: z.object({ name: z.string(), goal: z.enum(goals) }),
  /** The first step after which trials are compared, and poor ones stopped. */
  prune: z.optional(z.int().check(z.gte(1))),
  trials: z.array(trialSchema),
  /** Ended by the user before its end. */
  cancelled: z.boolean(),
});

/** One trial, and what became of it. */
export type Trial = z.infer<typeof trialSchema>;
/** How a trial stands. */
type TrialStatus = z.infer<typeof trialStatusSchema>;
/** The command line that made a sweep. */
export type AskedSweep = z.infer<typeof askedSchema>;
/** A sweep as its file keeps it. */
export type Sweep = z.infer<typeof sweepSchema>;

/** `lr-01`; as many digits as the last one needs. */
export const trialName = (sweep: string, number: number, trials: number): string =>
  `${sweep}-${String(number).padStart(Math.max(2, String(trials).length), '0')}`;

/** The sweep's name and each value, as tags: of a long one the begin, and no commas. */
export function trialTags(sweep: string, values: Values): string[] {
  const tags = Object.entries(values).map(([name, value]) => `${name}=${value}`.replaceAll(',', ';'));
  return tagsOf([sweep, ...tags.map(cut)]);
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= longestTag ? text : `${characters.slice(0, longestTag - 1).join('')}…`;
}

/** A trial before its run. */
export const newTrial = (of: Pick<Trial, 'number' | 'name' | 'values' | 'command'>): Trial => ({
  ...of,
  ...{ status: 'waiting', run: null, why: '', best: null, last: null, imagesPerSec: null },
  ...{ seconds: null, cost: null, currency: null, reported: [] },
});

/** The trial as it was before its run; it keeps those of earlier tries. */
export function untried({ number, name, values, command, earlier }: Trial): Trial {
  const anew = newTrial({ number, name, values, command });
  return earlier === undefined ? anew : { ...anew, earlier };
}

/** Whether nothing of the trial is to come. */
export const isTried = ({ status }: Pick<Trial, 'status'>): boolean =>
  status !== 'waiting' && status !== 'starting' && status !== 'running';

/** Whether both are of one command line, so that the one goes on with the other. */
export function sameSweep(earlier: Sweep, asked: Pick<Sweep, 'name' | 'asked' | 'trials'>): boolean {
  const of = ({ name, asked, trials }: Pick<Sweep, 'name' | 'asked' | 'trials'>): string =>
    JSON.stringify([name, sorted(asked), trials.map(({ values }) => values)]);
  return of(earlier) === of(asked);
}

const sorted = ({ profile, flags, rest }: AskedSweep): unknown => [
  profile,
  Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1)),
  rest,
];

/** Of a trial that was starting, only its last try counts. */
export function isRunOf(
  { id, run }: Pick<RunEntry, 'id' | 'run'>,
  { created }: Pick<Sweep, 'created'>,
  { number, run: own, earlier = [] }: Trial,
): boolean {
  if (own) return id === own.id;
  const { kind, begun, trial } = run?.report ?? {};
  const isTrial = kind === 'sweep' && begun === created && trial === number;
  return isTrial && !earlier.includes(id);
}

/** How many trials stand so. */
export const countOf = ({ trials }: Pick<Sweep, 'trials'>, status: TrialStatus): number =>
  trials.filter((trial) => trial.status === status).length;

/** Whether the trial came to the end that the sweep wanted. */
export const isDone = ({ status }: Pick<Trial, 'status'>): boolean =>
  status === 'finished' || status === 'pruned';

/** Those that failed, or that something else stopped, are tried anew. */
export function withAgain(sweep: Sweep): Sweep {
  const again = (trial: Trial): Trial => (!isTried(trial) || isDone(trial) ? trial : triedAgain(trial));
  return { ...sweep, trials: sweep.trials.map(again) };
}

/** The trial as it was before its run, which counts as an earlier one. */
export function triedAgain(trial: Trial): Trial {
  const { run, earlier = [] } = trial;
  const anew = untried(trial);
  return run ? { ...anew, earlier: [...earlier, run.id] } : anew;
}

/**
 * The best first: those that came to an end, then those that were pruned, then those that failed,
 * then what was not tried.
 */
export function ranked({ trials, metric }: Pick<Sweep, 'trials' | 'metric'>): Trial[] {
  const better = byMetric(metric.goal);
  return [...trials].sort(
    (a, b) =>
      places[a.status] - places[b.status] ||
      (counts(a) || a.status === 'pruned' ? better(a.best, b.best) : 0) ||
      a.number - b.number,
  );
}

const places: Record<TrialStatus, number> = {
  ...{ finished: 0, stopped: 0, pruned: 1, interrupted: 2, failed: 3 },
  ...{ running: 4, starting: 4, waiting: 5 },
};
const counts = ({ status }: Trial): boolean => places[status] === 0;

/** Undefined where no trial that came to an end reported the metric. */
export function bestTrial(sweep: Pick<Sweep, 'trials' | 'metric'>): Trial | undefined {
  return ranked(sweep).find((trial) => counts(trial) && trial.best !== null);
}

/** `trial 3 (lr=0.1, batch-size=32)`. */
export const trialText = ({ number, values }: Pick<Trial, 'number' | 'values'>): string =>
  `trial ${number} (${valuesText(values)})`;
