// Runs as their files would tell of them, made by a plan: for comparisons, whose figures are then
// known beforehand.
import type { RunEntry } from '../../../src/core/contracts/agentApi.js';
import { parseMetric, type Metric } from '../../../src/core/contracts/metricsSchema.js';
import { runFileSchema, stateSchema, type Price } from '../../../src/core/contracts/runSchema.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { demand } from '../../../src/core/base/validation.js';
import { reduceRun } from '../../../src/core/compare/reduceRun.js';
import type { ComparedRun } from '../../../src/core/compare/comparedRun.js';
import { Figures } from '../../../src/core/model/series/figures.js';
import { RunMetrics } from '../../../src/core/model/runMetrics.js';
import { StepTable } from '../../../src/core/model/series/stepTable.js';
import { evalLine, startLine, stepLine } from './lines.js';

/** When every made run starts, seconds since the epoch. */
export const runStart = 1_795_000_000;

export interface MadeEntry {
  id: string;
  argv?: string[];
  program?: 'trainer' | 'command';
  gpus?: number;
  price?: Price;
  seconds: number;
  phase?: 'running' | 'finished';
  generation?: number;
  env?: Record<string, string>;
}

/** Of one machine, under way or ended after `seconds`. */
export function madeEntry(made: MadeEntry): RunEntry {
  const { id, argv = ['train'], program = 'trainer', gpus = 1, price, seconds, env = {} } = made;
  const phase = made.phase ?? 'finished';
  const run = demand(
    runFileSchema,
    {
      version: 1,
      id,
      created: runStart,
      profile: { name: 'local', kind: 'local' },
      program,
      argv,
      ranks: gpus,
      gpus: Array.from({ length: gpus }, (_, index) => index),
      threadsPerRank: 1,
      env,
      evaluator: null,
      tensorboard: false,
      paths: { trainer: '/t', mpiexec: '/m', agent: '/a', python: '/p', tensorboardServer: '/s' },
      hashes: { trainer: 'a'.repeat(64), agent: 'b', requirements: 'c' },
      limits: { hangTimeout: 300, startTimeout: 60, maxRestarts: 0 },
      launcher: 'fork',
      ...(price ? { price } : {}),
      totalSteps: null,
    },
    'run.json',
  );
  const state = demand(
    stateSchema,
    {
      version: 1,
      phase,
      generation: made.generation ?? 1,
      world: gpus,
      supervisor: { pid: 1, startTime: 1, bootId: 'b', host: 'h' },
      ranks: [],
      mpiexec: null,
      evaluator: null,
      started: runStart,
      ended: phase === 'finished' ? runStart + seconds : null,
      exitCode: phase === 'finished' ? 0 : null,
      reason: null,
      updated: runStart + seconds,
    },
    'state.json',
  );
  return { id, dir: nodePath(`/w/runs/${id}`), run, state, interrupted: false };
}

/** Run and lines as the comparison has them. */
export function compared(entry: RunEntry, lines: readonly Metric[], figures = new Figures()): ComparedRun {
  const metrics = new RunMetrics(new StepTable());
  for (const line of lines) metrics.add(parseMetric(line));
  return reduceRun({ profile: 'local', entry, metrics, figures });
}

export interface MadeTraining {
  images: number;
  batch: number;
  epochs: number;
  firstEpoch: number;
  laterEpochs: number;
  /** After each epoch the accuracy is a step nearer to this. */
  top1: number;
}

/** A step line every tenth of an epoch, and an evaluation after each epoch. Times in seconds. */
export function trainingLines(made: MadeTraining): Metric[] {
  const { images, batch, epochs, firstEpoch, laterEpochs, top1 } = made;
  const stepsPerEpoch = Math.ceil(images / batch);
  const begin = startLine({
    time: runStart,
    train_images: images,
    batch_size: batch,
    global_batch: batch,
    steps_per_epoch: stepsPerEpoch,
    total_steps: stepsPerEpoch * epochs,
  });
  const lines: Metric[] = [begin];
  let time = runStart;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const seconds = epoch === 0 ? firstEpoch : laterEpochs;
    for (let tenth = 1; tenth <= 10; tenth++) {
      const step = epoch * stepsPerEpoch + Math.round((stepsPerEpoch * tenth) / 10);
      lines.push(
        stepLine(step, {
          time: time + (seconds * tenth) / 10,
          epoch: step / stepsPerEpoch,
          loss: 2 / (1 + step / stepsPerEpoch),
          images_per_sec: images / seconds,
        }),
      );
    }
    time += seconds;
    const accuracy = (top1 * (epoch + 1)) / epochs;
    const result = { time, top5: Math.min(1, accuracy * 1.2), loss: 1 - accuracy };
    lines.push(evalLine((epoch + 1) * stepsPerEpoch, accuracy, result));
  }
  return lines;
}
