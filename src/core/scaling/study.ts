// A measurement of scaling as its file keeps it: what was asked for, the points, and what failed.
import * as z from 'zod/mini';
import type { Reduction } from './links.js';
import type { Setup, TimedPoint } from './model.js';
import { quantile } from '../base/quantile.js';
import { computeMs, type ScalingPoint } from './series.js';

const spread = z.object({ median: z.number(), low: z.number(), high: z.number() });
const count = z.int().check(z.gte(0));
const mode = z.enum(['weak', 'strong']);

const rankSchema = z.object({
  rank: count,
  host: z.string(),
  device: z.string(),
  computeMs: z.number(),
  commMs: z.number(),
  inputMs: z.number(),
});

const pointSchema = z.object({
  mode,
  replicas: count,
  hosts: count,
  machines: z.optional(count),
  batch: count,
  threads: count,
  cores: z.nullable(count),
  gradientBytes: count,
  imagesPerSec: spread,
  stepMs: spread,
  commMs: spread,
  inputMs: spread,
  waits: z.object({ communication: z.number(), input: z.number() }),
  computeSamples: z.array(z.number()),
  /** Missing in files of older versions. */
  ranks: z.optional(z.array(rankSchema)),
  allReduceMs: z.nullable(z.number()),
  perHour: z.nullable(z.number()),
  /** The run that was measured, and the command that starts the same one. */
  run: z.string(),
  command: z.string(),
});

/** Of scaling.json. Times in milliseconds, `perHour` in the currency. */
export const studySchema = z.object({
  version: z.literal(1),
  profile: z.string(),
  words: z.array(z.string()),
  steps: count,
  /** Seconds since the epoch: when the first point was begun. */
  created: z.number(),
  model: z.nullable(z.string()),
  device: z.nullable(z.string()),
  allReduce: z.nullable(z.string()),
  currency: z.nullable(z.string()),
  points: z.array(pointSchema),
  /** One replica with a batch of another size. */
  probe: z.nullable(
    z.object({ batch: count, imagesPerSec: z.number(), run: z.string(), command: z.string() }),
  ),
  failed: z.array(z.object({ mode, replicas: count, message: z.string(), command: z.string() })),
  /** What was asked for and not begun, because the measurement was ended. */
  missing: z.array(z.object({ mode, replicas: count })),
});

/** A measurement as its file keeps it. */
export type ScalingStudy = z.infer<typeof studySchema>;
/** A point with the run that it is of. */
export type StudyPoint = z.infer<typeof pointSchema>;

/** Whether points of the one measurement may stand beside those of the other. */
export const sameStudy = (
  a: Pick<ScalingStudy, 'profile' | 'words' | 'steps'>,
  b: Pick<ScalingStudy, 'profile' | 'words' | 'steps'>,
): boolean =>
  a.profile === b.profile && a.steps === b.steps && JSON.stringify(a.words) === JSON.stringify(b.words);

/** What the model takes of the points of weak scaling. Undefined where there are none. */
export function modelInput(
  points: readonly ScalingPoint[],
  between?: Setup['between'],
): { setup: Setup; timed: TimedPoint[] } | undefined {
  const weak = points.filter((point) => point.mode === 'weak');
  const first = [...weak].sort((a, b) => a.replicas - b.replicas)[0];
  if (!first) return undefined;
  const allReduce = weak.flatMap(({ replicas, hosts, machines, allReduceMs }) =>
    allReduceMs === null ? [] : [{ replicas, hosts, machines, seconds: allReduceMs / 1000 }],
  );
  const setup: Setup = {
    batch: first.batch,
    gradientBytes: first.gradientBytes,
    samples: steady(first.computeSamples),
    coresTaken: first.cores === null ? 0 : first.threads / first.cores,
    allReduce,
    ...(between === undefined ? {} : { between }),
  };
  const timed = weak.map((point) => ({
    ...{ replicas: point.replicas, hosts: point.hosts, machines: point.machines },
    seconds: point.stepMs.median / 1000,
    computeSeconds: computeMs(point) / 1000,
  }));
  return { setup, timed };
}

/** Without what one pause of the machine makes of a step: more than twice the median. */
function steady(samples: readonly number[]): number[] {
  const most = 2 * quantile(samples, 0.5);
  return samples.filter((value) => value <= most);
}

/** The kind that the trainer says it used; undefined for its library's own choice. */
export const reductionOf = (allReduce: string | null): Reduction | undefined =>
  allReduce === 'ring' || allReduce === 'tree' || allReduce === 'hierarchical' ? allReduce : undefined;
