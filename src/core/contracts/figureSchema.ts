// figures.jsonl as docs/contracts/figures.md fixes it: what own programs report.
import * as z from 'zod/mini';

const count = z.int().check(z.gte(0));

/** One line of figures.jsonl. A `value` that is no number is null. */
export const figureSchema = z.object({
  tag: z.string(),
  step: z.int(),
  value: z.nullable(z.number()),
  time: z.number(),
  generation: count,
  writer: z.string(),
  source: z.string(),
});
/** A figure that an own program reported. `time` is in seconds since the epoch. */
export type FigureLine = z.infer<typeof figureSchema>;
