// A checkpoint folder's manifest.json and state.json, and the agent's list of checkpoints.
import * as z from 'zod/mini';

const count = z.int().check(z.gte(0));

/**
 * manifest.json: which files make up a checkpoint, with their sizes in bytes. `time` is in seconds
 * since the epoch.
 */
export const manifestSchema = z.object({
  version: z.literal(1),
  step: count,
  time: z.number(),
  model: z.string(),
  classes: count,
  files: z
    .array(z.object({ name: z.string(), bytes: count, sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)) }))
    .check(z.minLength(1)),
});

/**
 * state.json of a checkpoint: what a resumed run must know. `batch_size` counts the images of one
 * worker's batch, `accumulate` the batches of one update, and `global_batch` the images of one
 * update, of all workers. `image_size` is in pixels, as is `eval_image_size`, that of the images on
 * which the checkpoint is judged and used, and `eval_resize`, their shorter side before the crop.
 */
export const checkpointStateSchema = z.object({
  version: z.literal(1),
  step: count,
  generation: count,
  seed: z.int(),
  world: count,
  batch_size: count,
  accumulate: z.optional(count),
  global_batch: count,
  samples_seen: count,
  model: z.string(),
  classes: count,
  class_names: z.array(z.string()),
  image_size: count,
  eval_image_size: z.optional(count),
  eval_resize: z.optional(count),
  dataset_images: count,
  shuffle_buffer: z.optional(count),
  repeated_augmentation: z.optional(count),
  augment: z.string(),
  optimizer: z.string(),
  strategy: z.optional(z.string()),
  total_steps: count,
  schedule: z.object({
    kind: z.string(),
    base_lr: z.number(),
    warmup_steps: count,
    drops: z.optional(z.array(count)),
    total_steps: count,
  }),
});

/**
 * One entry of the agent's list of checkpoints. `bytes` is the size of the whole folder, `time` is
 * in seconds since the epoch, and `reason` says why `valid` is false.
 */
export const checkpointSchema = z.object({
  step: count,
  path: z.string(),
  bytes: count,
  time: z.number(),
  valid: z.boolean(),
  reason: z.optional(z.nullable(z.string())),
});
/** A checkpoint as the agent lists it. */
export type Checkpoint = z.infer<typeof checkpointSchema>;
