// metrics.jsonl and gpus/<host>.jsonl. A figure that is not a number (a diverged loss) is null in
// JSON.
import * as z from 'zod/mini';
import { demand } from '../base/validation.js';

const count = z.int().check(z.gte(0));
/** Null: not a number. */
const figure = z.nullable(z.number());
/** `time`: seconds since the epoch. `generation`: counts the starts of a run from 1. */
const base = { time: z.number(), generation: count };

/**
 * `batch_size` counts the images of one worker's batch, `accumulate` the batches of one update, and
 * `global_batch` the images of one update, of all workers.
 */
const startLineSchema = z.object({
  kind: z.literal('start'),
  ...base,
  model: z.string(),
  parameters: count,
  classes: count,
  class_names: z.array(z.string()),
  train_images: count,
  world: count,
  batch_size: count,
  accumulate: z.optional(count),
  global_batch: count,
  optimizer: z.optional(z.string()),
  strategy: z.optional(z.string()),
  servers: z.optional(count),
  all_reduce: z.optional(z.nullable(z.string())),
  bucket_size: z.optional(z.nullable(z.number())),
  comm: z.optional(z.nullable(z.string())),
  made_new: z.optional(z.array(z.string())),
  steps_per_epoch: count,
  total_steps: count,
  resumed_from: z.nullable(z.string()),
  recipe_changes: z.optional(z.array(z.string())),
  precision: z.string(),
  device: z.string(),
  jpeg_decoder: z.optional(z.string()),
});

/** A parameter server's part since the last line; in the end line, of the whole run. */
export const serverSchema = z.object({
  rank: count,
  host: z.string(),
  parameters: count,
  busy: z.number(),
  updates: count,
  staleness: z.number(),
  staleness_max: z.number(),
});

/** `images_per_sec_over_all` is all images over the time of their steps. */
const mergedSchema = z.object({
  lines: count,
  loss_min: figure,
  loss_max: figure,
  images_per_sec_min: z.number(),
  images_per_sec_max: z.number(),
  images_per_sec_over_all: figure,
});

/**
 * `loss` and `top1` (a fraction) are means since the last line, the `_ms` are means for each step,
 * `epoch` counts epochs with the part of the one under way, and `server_busy` is a fraction.
 */
const stepLineSchema = z.object({
  kind: z.literal('step'),
  ...base,
  step: count,
  epoch: z.number(),
  loss: figure,
  top1: figure,
  lr: z.number(),
  images_per_sec: z.number(),
  step_ms: z.number(),
  comm_ms: z.number(),
  input_wait_ms: z.number(),
  world: count,
  gradient_norm: z.optional(z.number()),
  images: z.optional(count),
  servers: z.optional(z.array(serverSchema)),
  server_busy: z.optional(z.number()),
  staleness: z.optional(z.number()),
  /**
   * Of the answer to `metrics.read` alone: the line stands for that many lines, its figures are
   * means.
   */
  merged: z.optional(mergedSchema),
});

/**
 * `top1` and `top5` are fractions. `seconds` is how long the evaluation took, `data` the images as
 * they were named (missing in lines of older trainers), and `once` whether somebody asked for it.
 */
const evalLineSchema = z.object({
  kind: z.literal('eval'),
  ...base,
  step: count,
  top1: z.number(),
  top5: z.number(),
  loss: figure,
  images: count,
  data: z.optional(z.string()),
  once: z.optional(z.boolean()),
  checkpoint: z.string(),
  seconds: z.number(),
});

/**
 * `write_ms` is how long writing took, and `held_ms` how long the training waited for it (missing
 * in lines of older trainers), both in milliseconds.
 */
const checkpointLineSchema = z.object({
  kind: z.literal('checkpoint'),
  ...base,
  step: count,
  path: z.string(),
  bytes: count,
  write_ms: z.number(),
  held_ms: z.optional(z.number()),
});

/**
 * Of one rank. Memory is in bytes. The `_ms` are medians a step over the steps since the line
 * before, of this rank's own clock; they are missing where a rank makes no steps, and in older
 * files.
 */
const hostLineSchema = z.object({
  kind: z.literal('host'),
  ...base,
  step: count,
  rank: count,
  host: z.string(),
  device: z.string(),
  memory_used: count,
  memory_peak: count,
  bad_images: z.optional(count),
  compute_ms: z.optional(z.number()),
  comm_ms: z.optional(z.number()),
  input_wait_ms: z.optional(z.number()),
});

/** One line of metrics.jsonl, of any kind. Memory and `bytes` are in bytes. */
export const metricSchema = z.discriminatedUnion('kind', [
  startLineSchema,
  stepLineSchema,
  evalLineSchema,
  checkpointLineSchema,
  z.object({
    kind: z.literal('checkpoint_passed_over'),
    ...base,
    step: count,
    path: z.string(),
    reason: z.string(),
  }),
  z.object({ kind: z.literal('checkpoint_failed'), ...base, step: count, message: z.string() }),
  hostLineSchema,
  z.object({ kind: z.literal('bad_image'), ...base, path: z.string(), message: z.string(), count }),
  /**
   * Lines that are missing here, because the disk took none for too long: their number, and the
   * times they had.
   */
  z.object({ kind: z.literal('gap'), ...base, lines: count, from: z.number(), to: z.number() }),
  z.object({
    kind: z.literal('end'),
    ...base,
    step: count,
    seconds: z.number(),
    images_per_sec: z.number(),
    reason: z.enum(['finished', 'stopped']),
    early_stop: z.optional(z.boolean()),
    servers: z.optional(z.array(serverSchema)),
  }),
]);

/** A checked line of metrics.jsonl. */
export type Metric = z.infer<typeof metricSchema>;
/** Throws with every problem named when `value` is not a line of metrics.jsonl. */
export const parseMetric = (value: unknown): Metric => demand(metricSchema, value, 'metric');

/** How a generation of a run begins: its model, its ranks, its data, its plan. */
export type StartLine = z.infer<typeof startLineSchema>;
/** What a parameter server did: `busy` is a fraction of the time, `staleness` counts updates. */
export type ServerFigures = z.infer<typeof serverSchema>;
/** The figures of the steps since the line before. */
export type StepLine = z.infer<typeof stepLineSchema>;
/** One rank at the time of a step line. */
export type HostLine = z.infer<typeof hostLineSchema>;
/** One checkpoint that was written. */
export type CheckpointLine = z.infer<typeof checkpointLineSchema>;
/** One evaluation of a checkpoint. */
export type EvalLine = z.infer<typeof evalLineSchema>;

/**
 * One GPU of a sample. Memory is in bytes, `utilization` in percent, `temperature` in degrees
 * Celsius, and `power_watts` in watts. `slowed_by` names reasons, and `problem` is NVML's text for
 * a GPU that no longer works.
 */
export const gpuSchema = z.object({
  index: count,
  uuid: z.string(),
  name: z.string(),
  memory_used: count,
  memory_total: count,
  utilization: figure,
  temperature: figure,
  power_watts: figure,
  processes: z.array(
    z.object({
      pid: z.int(),
      user: z.optional(z.nullable(z.string())),
      memory_used: z.nullable(count),
      /** Of `host.sample` alone: its words. */
      command: z.optional(z.nullable(z.string())),
      /** The name of the folder of the run that it belongs to. */
      run: z.optional(z.nullable(z.string())),
    }),
  ),
  ecc: z.optional(z.nullable(z.object({ corrected: count, uncorrected: count }))),
  slowed_by: z.optional(z.array(z.string())),
  problem: z.optional(z.nullable(z.string())),
  /** Of `host.sample` alone: who holds the lock. `run` and `dir` are empty while a run has none. */
  held_by: z.optional(
    z.nullable(
      z.object({ run: z.string(), dir: z.string(), host: z.string(), pid: z.int(), since: z.number() }),
    ),
  ),
});

/** A start that waits for GPUs of a node: for `count` of `gpus`, in their order. */
const waitingStartSchema = z.object({
  ticket: z.string(),
  number: z.int(),
  gpus: z.array(count),
  count,
  by: z.string(),
  since: z.number(),
});
/**
 * A start that waits for GPUs of a node. Its ticket and its number are the same on all its nodes.
 * `by` is for people, `since` in seconds since the epoch.
 */
export type WaitingStart = z.infer<typeof waitingStartSchema>;

/** One line of gpus/<host>.jsonl, and the result of `host.sample`. */
export const hostSampleSchema = z.object({
  time: z.number(),
  host: z.string(),
  cpu_percent: z.number(),
  memory_used: count,
  memory_total: count,
  disk_free: z.nullable(count),
  gpus: z.array(gpuSchema),
  /** Of `host.sample` alone: in the order of the queue. */
  waiting: z.optional(z.array(waitingStartSchema)),
  missing: z.optional(
    z.array(
      z.object({
        what: z.enum(['gpus', 'disk']),
        path: z.optional(z.string()),
        since: z.number(),
        reason: z.string(),
      }),
    ),
  ),
});
/**
 * The figures of one host and its GPUs at one time. `time` and `since` are in seconds since the
 * epoch, memory and `disk_free` in bytes, and `cpu_percent` is of the whole host, 0 to 100.
 */
export type HostSample = z.infer<typeof hostSampleSchema>;
