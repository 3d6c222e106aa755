// The limits of a run, in seconds; `maxRestarts` is a count.
import * as z from 'zod/mini';

/** `limits` of run.json. */
export const limitsSchema = z.object({
  hangTimeout: z.number(),
  startTimeout: z.number(),
  nodeReturnTimeout: z.optional(z.number()),
  maxRestarts: z.int().check(z.gte(0)),
  /** Between SIGTERM and SIGKILL of an own program. */
  stopGrace: z.optional(z.number()),
  /** Without output of an own program, after which it is ended as one that hangs; 0: never. */
  silenceTimeout: z.optional(z.number().check(z.gte(0))),
  /** Of this start, after which the run stops with a checkpoint. */
  timeLimit: z.optional(z.number().check(z.positive())),
});
