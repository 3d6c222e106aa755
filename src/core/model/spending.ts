// What a run's time went to, and its price: until an accuracy, to restarts, and without any step.
import { costUntil, moneyText, pricePerHour } from '../cost/runCost.js';
import { heldSeconds } from '../cost/heldTime.js';
import type { RunFile, RunState } from '../contracts/runSchema.js';
import type { Evaluation, Restart, RunMetrics } from './runMetrics.js';
import { bySupervisor, startsBy } from './starts.js';

type Run = Pick<RunFile, 'price' | 'nodes' | 'gpus' | 'earlier' | 'slurm'> | null;
type Starting = Pick<RunFile, 'earlier' | 'slurm'> | null;
type State = Pick<RunState, 'started' | 'ended' | 'updated' | 'generation'> | null;
type Read = Pick<RunMetrics, 'restarts' | 'stepSeconds' | 'lastStep' | 'evaluations' | 'best'>;

/** Amounts are in the currency of the run. Undefined is what nobody knows. */
export interface Spending {
  currency: string;
  /** Up to the step of the first evaluation with at least that top-1 (a fraction). */
  toAccuracy: { accuracy: number; amount: number } | undefined;
  /** Of what restarts threw away, and of the time until they trained again. */
  restarts: number | undefined;
  /** Of the time in which what the run holds (GPUs, nodes) had no step to make. */
  idle: number | undefined;
}

/**
 * Seconds between the checkpoints from which restarts of the supervisor went on and the moments at
 * which they did. Undefined where the lines do not tell of each restart what it cost.
 */
export function lostSeconds(
  run: Starting,
  state: State,
  metrics: Pick<RunMetrics, 'restarts'>,
): number | undefined {
  if (!state) return undefined;
  const starts = startsBy(run, state);
  const own = bySupervisor(metrics.restarts, starts);
  if (own.length < starts.restarts) return undefined;
  const costs = own.map((restart) => lostTo(restart, run, state));
  return costs.includes(undefined) ? undefined : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0);
}

/** The same of the newest generation; undefined where somebody began it by hand. */
export function lostToLast(
  run: Starting,
  state: State,
  { restarts }: Pick<RunMetrics, 'restarts'>,
): number | undefined {
  const last = restarts.at(-1);
  if (!state || !last || bySupervisor([last], startsBy(run, state)).length === 0) return undefined;
  return lostTo(last, run, state);
}

function lostTo({ since, time }: Restart, run: Starting, state: NonNullable<State>): number | undefined {
  if (since === undefined) return undefined;
  return Math.max(0, heldSeconds(run, state, time) - heldSeconds(run, state, since));
}

/**
 * Seconds for which the run held its nodes and made no step: starts, waits for restarts,
 * checkpoints, the last evaluation. Steps that a restart repeats were made. Undefined without a
 * step.
 */
export function idleSeconds(run: Run, state: State, { stepSeconds, lastStep }: Read): number | undefined {
  if (!state || !lastStep) return undefined;
  return Math.max(0, heldSeconds(run, state) - stepSeconds);
}

/** The first one that is at least as good; `all` is in order of the steps. */
export const firstReaching = <E extends Pick<Evaluation, 'top1'>>(
  all: readonly E[],
  accuracy: number,
): E | undefined => all.find(({ top1 }) => top1 >= accuracy);

/**
 * The greatest whole percent that is not more than this, as a fraction; below 1% the value itself.
 */
export const wholePercent = (top1: number): number =>
  top1 >= 0.01 ? Math.floor(top1 * 100 + 1e-9) / 100 : top1;

/**
 * `accuracy` left out is the greatest whole percent that the run reached. Undefined without a
 * price.
 */
export function spendingOf(run: Run, state: State, metrics: Read, accuracy?: number): Spending | undefined {
  const perHour = run ? pricePerHour(run) : undefined;
  if (perHour === undefined || !run?.price || !state) return undefined;
  const priced = (seconds: number | undefined): number | undefined =>
    seconds === undefined ? undefined : (perHour * seconds) / 3600;
  const wanted = accuracy ?? (metrics.best && wholePercent(metrics.best.top1));
  const first = wanted === undefined ? undefined : firstReaching(metrics.evaluations.all, wanted);
  const amount = first && costUntil(run, state, first.time);
  return {
    currency: run.price.currency,
    toAccuracy: wanted === undefined || amount === undefined ? undefined : { accuracy: wanted, amount },
    restarts: priced(lostSeconds(run, state, metrics)),
    idle: priced(idleSeconds(run, state, metrics)),
  };
}

/** `80%`, `80.5%`. */
export const accuracyText = (accuracy: number): string => `${Number((100 * accuracy).toFixed(2))}%`;

/**
 * `3.10 USD until top-1 80%, restarts 0.42 USD, without a step 0.20 USD`: what is known and not
 * nothing.
 */
export function spendingText({ currency, toAccuracy, restarts, idle }: Spending): string {
  const parts: string[] = [];
  if (toAccuracy) {
    const { accuracy, amount } = toAccuracy;
    parts.push(`${moneyText(amount, currency)} until top-1 ${accuracyText(accuracy)}`);
  }
  if (restarts !== undefined && restarts > 0) parts.push(`restarts ${moneyText(restarts, currency)}`);
  if (idle !== undefined && idle > 0) parts.push(`without a step ${moneyText(idle, currency)}`);
  return parts.join(', ');
}
