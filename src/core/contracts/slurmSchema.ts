// What a run asks of Slurm: in a profile for all its runs, and for one run alone.
import * as z from 'zod/mini';

const about = <T>(text: string): z.core.$ZodCheck<T> => z.describe<T>(text);
const optional = z.optional;
/** It stands on a line of the batch script. */
const text = z.string().check(
  z.regex(/^[^\p{Cc}]+$/u, {
    error: 'must not be empty or contain line breaks or other control characters',
  }),
);

/** The fields that a run may give for itself, by their names in profile, preset and run.json. */
export const slurmWishFields = {
  partition: optional(text.check(about('`--partition` of sbatch.'))),
  account: optional(text.check(about('`--account` of sbatch.'))),
  qos: optional(text.check(about('`--qos` of sbatch.'))),
  gres: optional(
    text.check(about('`--gres` of sbatch, for each node: for example `gpu:8`. Of one run also `none`.')),
  ),
  constraint: optional(text.check(about('`--constraint` of sbatch: features that nodes must have.'))),
  time: optional(text.check(about('`--time` of sbatch, for example `24:00:00`.'))),
  exclusive: optional(z.boolean().check(about('`--exclusive` of sbatch: whole nodes.'))),
  requeue: optional(
    z.boolean().check(about('Whether a run that its time limit or another job ends goes on later.')),
  ),
};

/** What one run asks of Slurm, in place of what its profile says. */
export const slurmWishSchema = z.strictObject(slurmWishFields);
/** The fields that are given; what is left out is the profile's. */
export type SlurmWish = z.infer<typeof slurmWishSchema>;
