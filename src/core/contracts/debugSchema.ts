// A rank that waits for a debugger: what run.json says of it, and the event that tells where.
import * as z from 'zod/mini';

const count = z.int().check(z.gte(0));

/** `debug` of run.json. */
export const debugSchema = z.object({
  /** The rank that waits. */
  rank: count,
  /** The word of argv that debugpy runs: a script, `-m` or `-c`. */
  target: count,
  /** That word is an installed script, which names its interpreter itself. */
  script: z.optional(z.literal(true)),
});
/** Which rank of an own program in Python waits for a debugger, and what debugpy runs there. */
export type DebugRecord = z.infer<typeof debugSchema>;

/** Of the event `debugger_waiting`: a port of 127.0.0.1 on `host`, and where the program starts. */
export const waitingFields = { rank: count, host: z.string(), port: count, folder: z.string() };
