// What a run came to, in a few figures.
import { gpuHoursOf } from '../cost/gpuHours.js';
import { heldSeconds } from '../cost/heldTime.js';
import { costOf } from '../cost/runCost.js';
import { earlyStopText } from './earlyStop.js';
import { evaluatorEndText } from './evaluatorEnd.js';
import type { Figures } from './series/figures.js';
import type { RunJournal } from './runJournal.js';
import type { RunMetrics } from './runMetrics.js';
import type { ServerFigures } from '../contracts/metricsSchema.js';
import type { RunDetails } from '../contracts/agentApi.js';
import { reasonOf, statusOf, type RunStatus } from './runStatus.js';
import type { NodePath } from '../base/nodePath.js';

/** The command line's last line of JSON, without its `type`. */
export interface RunSummary {
  id: string;
  dir: NodePath;
  phase: RunStatus;
  exit_code: number | null;
  /** Images of all steps over their time; null when no step was made. */
  images_per_sec: number | null;
  /** How many writers of an own program it is the sum of. */
  images_per_sec_writers: number;
  median_images_per_sec: number | null;
  /** Of all its starts. */
  seconds: number | null;
  /** Price of the nodes or GPUs for that time; null where the profile had no price. */
  cost: { amount: number; currency: string } | null;
  /** Of a run that Slurm gave GPUs, over all its starts; else null. */
  gpu_hours: number | null;
  step: number | null;
  /** Accuracy of the last and of the best evaluation, as fractions. */
  top1: number | null;
  best_top1: number | null;
  train_top1: number | null;
  train_loss: number | null;
  /** Of an own program: the step since which its loss is no number; else null. */
  loss_lost_since: number | null;
  /** Parameter servers: how busy each was; null where there were none. */
  servers: ServerFigures[] | null;
  /** Valid checkpoints on disk. */
  checkpoints: number;
  reason: string | null;
  /** Why evaluations are missing; null where none is known to be. */
  evaluator: string | null;
}

/**
 * `metrics` with a table of steps; `checkpoints` are the valid ones on disk. `figures` are those of
 * an own program, of which images/s, loss and step are known by their names. `journal` tells of
 * the evaluator.
 */
export function summarize(
  details: RunDetails,
  metrics: RunMetrics,
  checkpoints: number,
  figures?: Figures,
  journal?: Pick<RunJournal, 'evaluator'>,
): RunSummary {
  const { state } = details;
  const rates = figures?.rates();
  const pace = {
    secondsLeft: undefined,
    secondsPerStep: undefined,
    totalSteps: undefined,
    totalEpochs: undefined,
  };
  const cost = costOf(details.run, state, { ...pace, over: true });
  return {
    id: details.id,
    dir: details.dir,
    phase: statusOf(details),
    exit_code: state?.exitCode ?? null,
    images_per_sec: metrics.steps?.imagesPerSec() ?? rates?.mean ?? null,
    images_per_sec_writers: metrics.steps?.imagesPerSec() === undefined ? (figures?.rateWriters ?? 0) : 1,
    median_images_per_sec: metrics.steps?.medianImagesPerSec() ?? rates?.median ?? null,
    seconds: state ? heldSeconds(details.run, state) : null,
    cost: cost ? { amount: cost.soFar, currency: cost.currency } : null,
    gpu_hours: gpuHoursOf(details.run, state) ?? null,
    step: metrics.progress.step ?? figures?.step ?? null,
    top1: metrics.lastEvaluation?.top1 ?? null,
    best_top1: metrics.best?.top1 ?? null,
    train_top1: metrics.lastStep?.top1 ?? null,
    train_loss: metrics.lastStep?.loss ?? figures?.loss ?? null,
    loss_lost_since: figures?.lossLostSince ?? null,
    servers: metrics.servers ?? null,
    checkpoints,
    reason:
      reasonOf(details) ??
      earlyStopText(details.run, metrics) ??
      (details.interrupted ? 'its supervisor ended without saying how' : null),
    evaluator: evaluatorEndText(statusOf(details), journal?.evaluator, metrics) ?? null,
  };
}
