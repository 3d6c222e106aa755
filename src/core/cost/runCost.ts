// What a run costs: a price of the profile, times the hours for which the run holds its nodes.
import type { Profile } from '../contracts/profileSchema.js';
import type { HeldSpan, Price, RunFile, RunState } from '../contracts/runSchema.js';
import { hasRanks } from '../contracts/slots.js';
import { earlierSpans, presentSpan, spanCost } from './heldTime.js';

/** Amounts are in whole units of `currency` (12.24 is 12 dollars and 24 cents), not rounded. */
export interface RunCost {
  currency: string;
  /** Of one hour of all that the run holds. */
  perHour: number;
  soFar: number;
  /** From the start to the last step at the present rate. Of a run that is over, `soFar`. */
  atEnd: number | undefined;
  /** Of one epoch at the present rate; undefined where the steps of an epoch are not known. */
  perEpoch: number | undefined;
}

/** How fast a run goes, as its metrics say. Times are in seconds. */
export interface Pace {
  over: boolean;
  secondsLeft: number | undefined;
  secondsPerStep: number | undefined;
  totalSteps: number | undefined;
  totalEpochs: number | undefined;
}

/** The price that is kept with a run, so that a later change of the profile leaves it. */
export function priceOf({ pricePerNodeHour, pricePerGpuHour, currency }: Profile): Price | undefined {
  const money = currency ?? 'USD';
  if (pricePerNodeHour !== undefined) return { per: 'node', amount: pricePerNodeHour, currency: money };
  if (pricePerGpuHour !== undefined) return { per: 'gpu', amount: pricePerGpuHour, currency: money };
  return undefined;
}

/** What of run.json decides the cost. */
type PricedRun = Pick<RunFile, 'price' | 'nodes' | 'gpus' | 'earlier'>;
type Times = Pick<RunState, 'started' | 'ended' | 'updated'>;

/**
 * The cost up to `until` (seconds since the epoch): price x units x hours, from each supervisor's
 * start to its run's end or last update. Units are the nodes of the run that have slots, or their
 * GPUs (none on CPUs: the cost is 0). Spare ones and the time of restarts count, since they are
 * held. Each start has its own price; one in another currency counts 0. Undefined without a price.
 */
export function costUntil(run: PricedRun | null, state: Times | null, until = Infinity): number | undefined {
  const perHour = run ? pricePerHour(run) : undefined;
  if (perHour === undefined || !run?.price || !state) return undefined;
  const { currency } = run.price;
  const spans: HeldSpan[] = [...earlierSpans(run, state), { ...presentSpan(state), perHour, currency }];
  return spans.reduce((sum, span) => sum + spanCost(span, currency, until), 0);
}

/** What a run that goes on in the folder of an earlier one keeps of its starts. */
export function startsOf(
  run: (PricedRun & Pick<RunFile, 'slurm'>) | null,
  state: (Times & Pick<RunState, 'generation'>) | null,
): HeldSpan[] {
  if (!state) return [...(run?.earlier ?? [])];
  const perHour = run ? pricePerHour(run) : undefined;
  const price = perHour === undefined || !run?.price ? {} : { perHour, currency: run.price.currency };
  const gpus = run?.slurm ? { gpus: gpusOf(run) } : {};
  const { generation } = state;
  return [...earlierSpans(run, state), { ...presentSpan(state), ...price, ...gpus, generation }];
}

/** `soFar` is of all starts (`costUntil`). Undefined without a price or before the start. */
export function costOf(run: PricedRun | null, state: Times | null, pace: Pace): RunCost | undefined {
  const perHour = run ? pricePerHour(run) : undefined;
  const soFar = costUntil(run, state);
  if (perHour === undefined || soFar === undefined || !run?.price) return undefined;
  const { currency } = run.price;
  const of = (seconds: number): number => (perHour * seconds) / 3600;
  const left = pace.over ? 0 : pace.secondsLeft;
  const { secondsPerStep, totalSteps, totalEpochs } = pace;
  const knowsEpochs = secondsPerStep !== undefined && totalSteps !== undefined && totalEpochs !== undefined;
  return {
    currency,
    perHour,
    soFar,
    atEnd: left === undefined ? undefined : soFar + of(left),
    perEpoch: knowsEpochs && totalEpochs > 0 ? of((secondsPerStep * totalSteps) / totalEpochs) : undefined,
  };
}

/** Of all that the run holds, in units of its currency; undefined without a price. */
export function pricePerHour(run: Pick<RunFile, 'price' | 'nodes' | 'gpus'>): number | undefined {
  if (!run.price) return undefined;
  const { per, amount } = run.price;
  return amount * (per === 'node' ? (run.nodes?.filter(hasRanks).length ?? 1) : gpusOf(run));
}

/** The GPUs that it holds. */
export function gpusOf({ nodes, gpus }: Pick<RunFile, 'nodes' | 'gpus'>): number {
  if (!nodes) return gpus?.length ?? 0;
  return nodes.reduce((sum, node) => sum + (node.gpus?.length ?? 0), 0);
}

/** `0.42 USD so far, about 3.10 USD in all, 0.26 USD an epoch`; of a run that is over, `3.10 USD`. */
export function costText(cost: RunCost, over: boolean): string {
  const money = (amount: number): string => moneyText(amount, cost.currency);
  if (over) return money(cost.soFar);
  const parts = [`${money(cost.soFar)} so far`];
  if (cost.atEnd !== undefined) parts.push(`about ${money(cost.atEnd)} in all`);
  if (cost.perEpoch !== undefined) parts.push(`${money(cost.perEpoch)} an epoch`);
  return parts.join(', ');
}

/** `3.10 USD`. Below one tenth with two digits that count: `0.0041 USD`, `0.005 USD`. */
export function moneyText(amount: number, currency: string): string {
  if (amount <= 0 || amount >= 0.1) return `${amount.toFixed(2)} ${currency}`;
  const places = Math.min(20, 1 - Math.floor(Math.log10(amount)));
  const text = amount.toFixed(places).replace(/^(\d+\.\d\d\d*?)0+$/, '$1');
  return `${text} ${currency}`;
}
