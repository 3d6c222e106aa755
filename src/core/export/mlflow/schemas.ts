// What of MLflow's answers an export reads.
import * as z from 'zod/mini';

const whole = z.coerce.number<number | string>();
const nothing = z.unknown();

const infoSchema = z.object({
  run_id: z.string(),
  experiment_id: z.string(),
  artifact_uri: z.string(),
});
const metricSchema = z.object({ key: z.string(), value: z.coerce.number<number | string>(), step: whole });
const pairSchema = z.object({ key: z.string(), value: z.string() });
const runSchema = z.object({
  info: infoSchema,
  data: z.object({
    metrics: z.optional(z.array(metricSchema)),
    params: z.optional(z.array(pairSchema)),
    tags: z.optional(z.array(pairSchema)),
  }),
});

/** Answers by what was asked. */
export const answers = {
  nothing,
  experiment: z.object({
    experiment: z.object({ experiment_id: z.string(), lifecycle_stage: z.optional(z.string()) }),
  }),
  created: z.object({ experiment_id: z.string() }),
  experiments: z.object({ experiments: z.optional(z.array(z.object({ name: z.string() }))) }),
  run: z.object({ run: runSchema }),
  runs: z.object({ runs: z.optional(z.array(runSchema)) }),
  history: z.object({
    metrics: z.optional(z.array(metricSchema)),
    next_page_token: z.optional(z.string()),
  }),
  files: z.object({
    files: z.optional(z.array(z.object({ path: z.string(), file_size: z.optional(whole) }))),
  }),
} as const;

/** A run as MLflow describes it. */
export type MlflowRun = z.infer<typeof runSchema>;
/** One value of a curve there. */
export type MlflowMetric = z.infer<typeof metricSchema>;
