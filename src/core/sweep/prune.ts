// Which trials of a sweep are stopped before their end: asynchronous successive halving, in the
// variant that stops trials (Li et al. 2020, "A System for Massively Parallel Hyperparameter
// Tuning", arXiv:1810.05934, with a factor of 3).
import { UserError } from '../base/errors.js';
import { plural } from '../base/plural.js';
import type { FigureLine } from '../contracts/figureSchema.js';
import type { Metric as MetricLine } from '../contracts/metricsSchema.js';
import { flagValue } from '../plan/request/flagValue.js';
import { betterOf, bestNamed, byMetric, metricText, stepValue, type Metric } from './metric.js';

/** From one place of comparison to the next there are so many times as many steps. */
const factor = 3;

/** The step of a place, counted from 0. `first`: the step of the first one. */
export const markStep = (first: number, place: number): number => first * factor ** place;

/** The best value up to a place; null where no report up to it was a number. */
export type Mark = number | null;

/** What one name of one writer reported so far. */
interface Reported {
  tag: string;
  writer: string;
  best: Mark;
  marks: Mark[];
}

/**
 * The marks of one trial, made of its lines as they come. A place is reached with the first report
 * of the metric at its step or a later one.
 */
export class TrialMarks {
  private readonly reported = new Map<string, Reported>();

  /** `first`: the step of the first place. */
  constructor(
    private readonly metric: Metric,
    private readonly first: number,
  ) {}

  /** A line of our trainer. */
  addMetric(line: MetricLine): void {
    const value = stepValue(line, this.metric.name);
    if (value) this.add(this.metric.name, '', value.step, value.value);
  }

  /** A line of an own program. */
  addFigure({ tag, writer, step, value }: FigureLine): void {
    this.add(tag, writer, step, value);
  }

  /** What came before no longer stands. */
  readonly reset = (): void => {
    this.reported.clear();
  };

  /** Of the places that were reached, in their order. */
  get marks(): readonly Mark[] {
    return bestNamed([...this.reported.values()], this.metric.name)?.marks ?? [];
  }

  private add(tag: string, writer: string, step: number, value: Mark): void {
    const key = `${writer}\n${tag}`;
    let one = this.reported.get(key);
    if (!one) {
      one = { tag, writer, best: null, marks: [] };
      this.reported.set(key, one);
    }
    one.best = betterOf(this.metric.goal, one.best, value);
    while (step >= markStep(this.first, one.marks.length)) one.marks.push(one.best);
  }
}

/**
 * The first of the places from `from` on where the trial is not among the best third of those that
 * reached it; undefined where it is at all of them. Of fewer than six trials the third is one.
 * `others`: the marks of the other trials.
 */
export function poorPlace(
  metric: Metric,
  marks: readonly Mark[],
  others: readonly (readonly Mark[])[],
  from: number,
): number | undefined {
  const order = byMetric(metric.goal);
  for (const [place, mark] of marks.entries()) {
    if (place < from) continue;
    const reached = others.flatMap((one) => one.slice(place, place + 1));
    const better = reached.filter((other) => order(other, mark) < 0).length;
    if (better >= Math.max(1, Math.floor((reached.length + 1) / factor))) return place;
  }
  return undefined;
}

/** Why a trial was stopped at a place. */
export function poorText({ name }: Metric, first: number, place: number, mark: Mark): string {
  const value = mark === null ? `no ${name}` : `${name} ${metricText(name, mark)}`;
  return `${value} by step ${markStep(first, place)} is not among the best third`;
}

/** UserError (usage) where trials end before they are compared. `words`: the commands of all. */
export function assertCompared(first: number, words: readonly (readonly string[])[]): void {
  const steps = words.map((one) => Number(flagValue(one, '--steps') ?? Infinity));
  const most = Math.max(...steps);
  if (most > first) return;
  const what = `trials are compared after step ${first}, and each ends after ${plural(most, 'step')}`;
  throw new UserError('usage', what, 'Compare them earlier, or train for longer');
}
