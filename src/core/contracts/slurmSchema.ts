// What a run asks of Slurm: in a profile for all its runs, and for one run alone. And what run.json
// keeps of it, with the run's job.
import * as z from 'zod/mini';

const about = <T>(text: string): z.core.$ZodCheck<T> => z.describe<T>(text);
const optional = z.optional;
const count = z.int().check(z.gte(0));
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

const positive = z.int().check(z.gte(1));
/** An option, since anything else would end what sbatch reads. */
const sbatchLine = z.string().check(
  z.regex(/^--?[A-Za-z][^\p{Cc}]*$/u, {
    error:
      'must be one option of sbatch, with its dashes, and without line breaks or other control characters',
  }),
);

/** What a profile of kind `slurm` asks of the queue. */
export const slurmProfileSchema = z.strictObject({
  ...slurmWishFields,
  gpusPerNode: optional(positive.check(about('`--gpus-per-node` of sbatch: GPUs of each node.'))),
  nodes: optional(positive.check(about('Nodes of a run that names no other number. Left out: 1.'))),
  cpusPerTask: optional(positive.check(about('`--cpus-per-task` of sbatch: CPUs of each rank.'))),
  stopAhead: optional(
    positive.check(
      about('Seconds before the time limit at which a run stops after a checkpoint. Default 120.'),
    ),
  ),
  tensorboard: optional(
    z
      .enum(['allocation', 'login'])
      .check(
        about(
          'Where TensorBoard runs: on the first node of the run (allocation, the default), or on the login node (login), which then serves runs that are over too.',
        ),
      ),
  ),
  cuda: optional(
    z
      .literal([12, 13])
      .check(
        about(
          'The build of the CUDA back end for runs on GPUs. 13 needs driver 580 and a GPU from Ampere to Hopper, 12 needs driver 525 and a GPU from Volta to Hopper. Left out: what fits the drivers that earlier jobs noted of the compute nodes, else 12.',
        ),
      ),
  ),
  lines: optional(
    z.array(sbatchLine).check(about('Further options of sbatch, one each, for example `--mem=64G`.')),
  ),
});

const slurmEndSchema = z.object({
  /** Slurm's word, as NODE_FAIL; TIME_LIMIT_NEAR where the job stopped ahead of its limit. */
  state: z.string(),
  /** Exit code and signal of the batch script, where Slurm said them. */
  exitCode: z.optional(count),
  signal: z.optional(count),
  /** More of it, for people: which nodes are down, and why. */
  detail: z.optional(z.string()),
});
/** Why Slurm ended a job. */
export type SlurmEnd = z.infer<typeof slurmEndSchema>;

/** What Slurm is asked for a run, and its job. */
export const slurmRecordSchema = z.object({
  /** The number that Slurm gave the job; absent until Slurm has taken it. */
  job: z.optional(z.string()),
  /** What the run asked for in place of its profile; absent where that was nothing. */
  asked: z.optional(z.object(slurmWishFields)),
  /** Whether Slurm starts the job again after it ended it. */
  requeue: z.boolean(),
  /** Slurm ended the job, and starts it again later. False: it was over before it began again. */
  goesOn: z.optional(z.boolean()),
  /** Why Slurm ended the job, by the job itself or by who asked Slurm later. */
  ended: z.optional(slurmEndSchema),
  /** How far the staging of its data is, for people; absent before it and after it. */
  staging: z.optional(z.string()),
  /** Of a training on GPUs: the first release of NVIDIA's driver that runs its CUDA back end. */
  oldestDriver: z.optional(count),
  /** What each node of the allocation gets, in the order of its nodes. */
  layout: z
    .array(
      z.object({
        slots: z.int().check(z.gte(1)),
        workers: z.optional(z.int().check(z.gte(1))),
        /** How many GPUs its ranks take. */
        gpus: count,
        nvidia: z.optional(z.array(z.string())),
      }),
    )
    .check(z.minLength(1)),
});
/** The part of run.json that is about Slurm. */
export type SlurmRecord = z.infer<typeof slurmRecordSchema>;
