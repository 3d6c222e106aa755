// The part of run.json that says what a run waits for by itself: see docs/contracts/gpus.md.
import * as z from 'zod/mini';

const count = z.int().check(z.gte(0));

/**
 * What a run waits for by itself before it begins. `nodes`: the GPUs of each of its nodes that
 * count, in the order in which it takes them. `slots`: runs of the same `group` share `count`
 * slots, and begin in the order of their places.
 */
export const runQueueSchema = z.object({
  by: z.string(),
  nodes: z.optional(z.array(z.object({ host: z.string(), gpus: z.array(count).check(z.minLength(1)) }))),
  slots: z.optional(
    z.object({ group: z.string(), count: z.int().check(z.gte(1)), place: z.int().check(z.gte(1)) }),
  ),
});
/** What a run waits for by itself before it begins. */
export type RunQueue = z.infer<typeof runQueueSchema>;
