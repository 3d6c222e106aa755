// Lines of metrics.jsonl, whole ones, with what a test cares about replaced.
import type { EvalLine, HostLine, StartLine, StepLine } from '../../../src/core/contracts/metricsSchema.js';

export const startLine = (fields: Partial<StartLine> = {}): StartLine => ({
  kind: 'start',
  time: 1795258500.1,
  generation: 1,
  model: 'resnet20',
  parameters: 272474,
  classes: 5,
  class_names: ['a', 'b', 'c', 'd', 'e'],
  train_images: 1600,
  world: 2,
  batch_size: 32,
  global_batch: 64,
  steps_per_epoch: 25,
  total_steps: 300,
  resumed_from: null,
  precision: 'fp32',
  device: 'cpu',
  ...fields,
});

export const stepLine = (step: number, fields: Partial<StepLine> = {}): StepLine => ({
  kind: 'step',
  time: 1795258500.1 + step,
  generation: 1,
  step,
  epoch: step / 25,
  loss: 1 / step,
  top1: 0.5,
  lr: 0.1,
  images_per_sec: 640,
  step_ms: 100,
  comm_ms: 5,
  input_wait_ms: 1,
  world: 2,
  ...fields,
});

/** Of a rank; without figures of its steps unless they are among the fields. */
export const hostLine = (step: number, rank: number, fields: Partial<HostLine> = {}): HostLine => ({
  kind: 'host',
  time: 1795258500.1 + step,
  generation: 1,
  step,
  rank,
  host: `gpu${rank + 1}`,
  device: 'cpu',
  memory_used: 5,
  memory_peak: 6,
  bad_images: 0,
  ...fields,
});

export const evalLine = (step: number, top1: number, fields: Partial<EvalLine> = {}): EvalLine => ({
  kind: 'eval',
  time: 1795258500.1 + step,
  generation: 1,
  step,
  top1,
  top5: 1,
  loss: 0.5,
  images: 400,
  checkpoint: `step-${String(step).padStart(8, '0')}`,
  seconds: 1.5,
  ...fields,
});
