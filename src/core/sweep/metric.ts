// By which figure trials are compared, and what a run's figures say of it.
import { UserError } from '../base/errors.js';
import { nearestOf } from '../base/nearest.js';
import type { ComparedRun, OwnFigure, RunFigures } from '../compare/comparedRun.js';
import { valueText } from '../compare/comparison.js';
import type { EvalLine, Metric as MetricLine, StepLine } from '../contracts/metricsSchema.js';
import { isLoss } from '../model/series/figures.js';
import { flagValue } from '../plan/request/flagValue.js';
import { isTraining } from './trialWords.js';

/** Whether more or less of it is better. */
export const goals = ['max', 'min'] as const;
/** One of `goals`. */
export type Goal = (typeof goals)[number];

/** A figure by its name: of our trainer, or as an own program reports it. */
export interface Metric {
  name: string;
  goal: Goal;
}

/** The last value, and the best of the run. Null where the run reported none. */
export interface MetricValue {
  last: number | null;
  best: number | null;
}

/** A value, and the step of which it is. */
interface StepValue {
  step: number;
  value: number | null;
}

interface OfTrainer {
  goal: Goal;
  last: keyof RunFigures;
  best: keyof RunFigures;
  /** What a line says of it; undefined where the line says nothing. */
  read: (line: MetricLine) => StepValue | undefined;
}

const ofSteps =
  (of: (line: StepLine) => number | null): OfTrainer['read'] =>
  (line) =>
    line.kind === 'step' ? { step: line.step, value: of(line) } : undefined;
const ofEvaluations =
  (of: (line: EvalLine) => number | null): OfTrainer['read'] =>
  (line) =>
    line.kind === 'eval' ? { step: line.step, value: of(line) } : undefined;

const ofTrainer: ReadonlyMap<string, OfTrainer> = new Map<string, OfTrainer>([
  ['eval.top1', { goal: 'max', last: 'top1', best: 'bestTop1', read: ofEvaluations(({ top1 }) => top1) }],
  ['eval.top5', { goal: 'max', last: 'top5', best: 'bestTop5', read: ofEvaluations(({ top5 }) => top5) }],
  [
    'eval.loss',
    { goal: 'min', last: 'evalLoss', best: 'bestEvalLoss', read: ofEvaluations(({ loss }) => loss) },
  ],
  ['loss', { goal: 'min', last: 'loss', best: 'bestLoss', read: ofSteps(({ loss }) => loss) }],
  [
    'images_per_sec',
    {
      ...{ goal: 'max', last: 'imagesPerSec', best: 'imagesPerSec' },
      read: ofSteps(({ images_per_sec: rate }) => rate),
    },
  ],
]);

/**
 * The figure that was asked for, else the usual one: of a training the accuracy of its evaluations,
 * or without evaluations its loss. `words`: the command of a trial. UserError (usage).
 */
export function metricOf(words: readonly string[], name?: string, goal?: string): Metric {
  const trains = isTraining(words);
  const evaluates = flagValue(words, '--eval-data') !== undefined;
  const chosen = name ?? (trains && evaluates ? 'eval.top1' : 'loss');
  if (goal !== undefined && goal !== 'max' && goal !== 'min') {
    throw new UserError('usage', `the goal must be max or min, not "${goal}"`, 'Correct it');
  }
  if (trains && !ofTrainer.has(chosen)) {
    const known = [...ofTrainer.keys()];
    const nearest = nearestOf(chosen, known);
    const hint = nearest === undefined ? `It is one of: ${known.join(', ')}` : `Did you mean ${nearest}?`;
    throw new UserError('usage', `the trainer has no figure ${chosen}`, hint);
  }
  if (trains && chosen.startsWith('eval.') && !evaluates) {
    const what = `${chosen} needs evaluations, and the training has no images for them`;
    throw new UserError('usage', what, 'Name images for evaluations, or another figure');
  }
  return { name: chosen, goal: goal ?? ofTrainer.get(chosen)?.goal ?? usualGoal(chosen) };
}

/** Of less is better by its name: `val/loss`, `word_error_rate`. */
const lessIsBetter =
  /loss|error|perplexity|(^|[/_.\s-])(ppl|mae|mse|rmse|wer|cer|fid|err|seconds|time|latency)$/i;
const usualGoal = (name: string): Goal => (lessIsBetter.test(name) ? 'min' : 'max');

/** What the run reported of it. */
export function metricValue(run: Pick<ComparedRun, 'own' | 'figures'>, { name, goal }: Metric): MetricValue {
  const own = bestNamed(run.own, name);
  if (own) return { last: own.last, best: goal === 'max' ? own.max : own.min };
  const known = ofTrainer.get(name);
  if (!known) return { last: null, best: null };
  const last = run.figures[known.last];
  return { last, best: goal === known.goal ? (run.figures[known.best] ?? last) : last };
}

/** What a line of our trainer says of the figure; undefined where it says nothing. */
export const stepValue = (line: MetricLine, name: string): StepValue | undefined =>
  ofTrainer.get(name)?.read(line);

/** As names are compared: `Val Acc` and `val_acc` are one. */
const plain = (tag: string): string => tag.toLowerCase().replace(/[^a-z0-9/]/g, '');
const lastPart = (tag: string): string => plain(tag).replace(/^.*\//, '');

/**
 * What a program reported under the name, else under one that ends with it. Of several writers the
 * first, by name.
 */
export function bestNamed<T extends Pick<OwnFigure, 'writer' | 'tag'>>(
  own: readonly T[],
  name: string,
): T | undefined {
  const sorted = [...own].sort((a, b) => (`${a.writer}\n${a.tag}` < `${b.writer}\n${b.tag}` ? -1 : 1));
  const ways: ((tag: string) => boolean)[] = [
    (tag) => tag === name,
    (tag) => plain(tag) === plain(name),
    ...(plain(name) === 'loss' ? [isLoss] : []),
    (tag) => lastPart(tag) === plain(name),
  ];
  for (const fits of ways) {
    const found = sorted.find(({ tag }) => fits(tag));
    if (found) return found;
  }
  return undefined;
}

/** The better one first; what is not known last. */
export function byMetric(goal: Goal): (a: number | null, b: number | null) => number {
  return (a, b) => {
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    return goal === 'max' ? b - a : a - b;
  };
}

/** What is not known is no better than anything. */
export const betterOf = (goal: Goal, a: number | null, b: number | null): number | null =>
  byMetric(goal)(a, b) <= 0 ? a : b;

/** `81.2%` of an accuracy of our trainer, else four significant digits. Empty where not known. */
export function metricText(name: string, value: number | null): string {
  if (value === null) return '';
  if (name === 'eval.top1' || name === 'eval.top5') return `${(100 * value).toFixed(1)}%`;
  return valueText('number', value, null);
}
