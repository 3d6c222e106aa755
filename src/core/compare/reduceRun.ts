// From what a run's files say to what a comparison needs of it.
import { costOf, costUntil, pricePerHour } from '../cost/runCost.js';
import { heldSeconds } from '../cost/heldTime.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Figures, NamedSeries } from '../model/series/figures.js';
import type { Evaluation, RunMetrics } from '../model/runMetrics.js';
import { runName } from '../model/runName.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { idleSeconds, lostSeconds } from '../model/spending.js';
import { bySupervisor, startsBy } from '../model/starts.js';
import {
  ownName,
  type ComparedRun,
  type EvaluatedPoint,
  type OwnFigure,
  type RunCurve,
  type RunFigures,
} from './comparedRun.js';
import { secondsPerEpoch } from './epochTimes.js';
import { settingsOf } from './settings.js';

/** Points of a curve that are kept. */
const mostPoints = 400;
/** Curves and figures of an own program that are kept. */
const mostOwn = 200;

/** One run and what its files say. `metrics` has a table of steps. */
export interface ReadRun {
  profile: string;
  entry: RunEntry;
  metrics: RunMetrics;
  figures: Figures;
}

/** What a comparison needs of the run. */
export function reduceRun({ profile, entry, metrics, figures }: ReadRun): ComparedRun {
  const { id, dir, run, state } = entry;
  const perHour = run ? pricePerHour(run) : undefined;
  const heldAt = (time: number): number => (state ? heldSeconds(run, state, time) : 0);
  const costAt = (time: number): number | null => costUntil(run, state, time) ?? null;
  const evaluations = state
    ? metrics.evaluations.all.map((each) => point(each, metrics, heldAt, costAt))
    : [];
  return {
    id,
    name: runName(entry),
    tags: entry.about?.tags ?? [],
    dir,
    profile,
    status: statusOf(entry),
    currency: perHour === undefined ? null : (run?.price?.currency ?? null),
    settings: settingsOf(run, metrics.start),
    figures: figuresOf({ profile, entry, metrics, figures }, evaluations, perHour),
    own: figures.all.slice(0, mostOwn).map(ownFigure),
    evaluations,
    curves: state
      ? [...curvesOf(metrics, heldAt), ...evaluationCurves(evaluations), ...ownCurves(figures, heldAt)]
      : [],
  };
}

function figuresOf(
  { entry, metrics, figures }: ReadRun,
  evaluations: readonly EvaluatedPoint[],
  perHour: number | undefined,
): RunFigures {
  const { run, state } = entry;
  const { steps, progress, lastStep, secondsLeft, secondsPerStep: perStep } = metrics;
  const last = evaluations.at(-1);
  const rows = steps?.slice().rows;
  const perEpoch = rows ? secondsPerEpoch(rows.epoch, rows.time) : undefined;
  const over = isOver(statusOf(entry));
  const cost = costOf(run, state, { ...progress, over, secondsLeft, secondsPerStep: perStep });
  const starts = startsBy(run, state);
  const restarts = state
    ? Math.max(bySupervisor(metrics.restarts, starts).length, starts.restarts)
    : undefined;
  const lost = lostSeconds(run, state, metrics);
  const idle = idleSeconds(run, state, metrics);
  const priced = (seconds: number | undefined): number | null =>
    seconds === undefined || perHour === undefined ? null : (perHour * seconds) / 3600;
  return {
    steps: progress.step ?? figures.step ?? null,
    epochs: progress.epoch ?? null,
    loss: lastStep?.loss ?? figures.loss ?? null,
    bestLoss: steps?.leastLoss() ?? null,
    evalLoss: last?.loss ?? null,
    bestEvalLoss: extreme(Math.min, evaluations, ({ loss }) => loss),
    top1: last?.top1 ?? null,
    bestTop1: metrics.best?.top1 ?? null,
    top5: last?.top5 ?? null,
    bestTop5: extreme(Math.max, evaluations, ({ top5 }) => top5),
    secondsPerEpoch: perEpoch ?? null,
    seconds: state ? heldSeconds(run, state) : null,
    imagesPerSec: steps?.imagesPerSec() ?? figures.rates()?.mean ?? null,
    rateWriters: steps?.imagesPerSec() === undefined && figures.rateWriters > 1 ? figures.rateWriters : null,
    cost: cost?.soFar ?? null,
    costAtEnd: over ? null : (cost?.atEnd ?? null),
    costPerEpoch: priced(perEpoch),
    restarts: restarts ?? null,
    secondsLost: lost ?? null,
    costLost: priced(lost),
    secondsIdle: idle ?? null,
    costIdle: priced(idle),
  };
}

function extreme<T>(
  of: (a: number, b: number) => number,
  items: readonly T[],
  value: (item: T) => number | null,
): number | null {
  return items.reduce<number | null>((found, item) => {
    const each = value(item);
    if (each === null) return found;
    return found === null ? each : of(found, each);
  }, null);
}

function point(
  { step, top1, top5, loss, time }: Evaluation,
  { start }: RunMetrics,
  heldAt: (time: number) => number,
  costAt: (time: number) => number | null,
): EvaluatedPoint {
  const hours = heldAt(time) / 3600;
  const epoch = start && start.steps_per_epoch > 0 ? step / start.steps_per_epoch : null;
  return { step, epoch, hours, top1, top5, loss, cost: costAt(time) };
}

function curvesOf({ steps }: RunMetrics, heldAt: (time: number) => number): RunCurve[] {
  const rows = steps?.slice().rows;
  if (!rows || rows.step.length === 0) return [];
  const at = { step: rows.step, epoch: rows.epoch, hours: rows.time.map((time) => heldAt(time) / 3600) };
  return [
    thinned({ name: 'loss', ...at, value: rows.loss }),
    thinned({ name: 'images/s', ...at, value: rows.imagesPerSec }),
  ];
}

function evaluationCurves(evaluations: readonly EvaluatedPoint[]): RunCurve[] {
  if (evaluations.length === 0) return [];
  const at = {
    step: evaluations.map(({ step }) => step),
    epoch: evaluations.map(({ epoch }) => epoch),
    hours: evaluations.map(({ hours }) => hours),
  };
  return [
    thinned({ name: 'top-1', ...at, value: evaluations.map(({ top1 }) => top1) }),
    thinned({ name: 'top-5', ...at, value: evaluations.map(({ top5 }) => top5) }),
  ];
}

function ownCurves(figures: Figures, heldAt: (time: number) => number): RunCurve[] {
  return figures.all.slice(0, mostOwn).map((named) => {
    const { step, time, value } = named.series.slice().rows;
    const hours = time.map((each) => heldAt(each) / 3600);
    return thinned({ name: ownName(named), step, epoch: step.map(() => null), hours, value });
  });
}

function ownFigure({ writer, tag, series }: NamedSeries): OwnFigure {
  const { min, max } = series.slice().rows;
  return {
    writer,
    tag,
    last: series.last?.value ?? null,
    min: extreme(Math.min, min, (value) => value),
    max: extreme(Math.max, max, (value) => value),
  };
}

/** Neighbouring points become one: their mean, at the place of the last one. */
function thinned({ name, step, epoch, hours, value }: RunCurve): RunCurve {
  const stride = Math.ceil(step.length / mostPoints);
  if (stride <= 1) return { name, step, epoch, hours, value };
  const ends: number[] = [];
  for (let end = stride - 1; end < step.length; end += stride) ends.push(end);
  if (ends.at(-1) !== step.length - 1) ends.push(step.length - 1);
  const mean = (end: number, index: number): number | null => {
    const part = value.slice(index === 0 ? 0 : (ends[index - 1] ?? 0) + 1, end + 1);
    const numbers = part.filter((each) => each !== null);
    if (numbers.length === 0) return null;
    return Number((numbers.reduce((sum, each) => sum + each, 0) / numbers.length).toPrecision(6));
  };
  return {
    name,
    step: ends.map((end) => step[end] ?? 0),
    epoch: ends.map((end) => epoch[end] ?? null),
    hours: ends.map((end) => hours[end] ?? 0),
    value: ends.map(mean),
  };
}
