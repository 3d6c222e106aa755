// From the lines of a short training to a point.
import { UserError } from '../base/errors.js';
import type { HostLine, StartLine, StepLine } from '../contracts/metricsSchema.js';
import { isLikeOthers, medianTimes, rankTimesOf, type RankTimes } from '../model/hosts/slowRanks.js';
import { spreadOf, type ScalingPoint } from './series.js';

/** Steps at the beginning that are left out, as a part of all: they hold the warming up. */
const warmingUp = 0.2;
/** Bytes of one weight's gradient as replicas share it. */
const gradientBytes = 4;

/** The figures of a point that its metrics tell. */
export type MeasuredFigures = Pick<
  ScalingPoint,
  | 'batch'
  | 'gradientBytes'
  | 'imagesPerSec'
  | 'stepMs'
  | 'commMs'
  | 'inputMs'
  | 'waits'
  | 'computeSamples'
  | 'ranks'
>;

/** UserError (failed) where there are too few steps. `hosts`: lines of every rank, in any order. */
export function figuresOf(
  start: StartLine | undefined,
  steps: readonly StepLine[],
  hosts: readonly HostLine[] = [],
): MeasuredFigures {
  const settled = steps.slice(Math.max(1, Math.ceil(steps.length * warmingUp)));
  if (!start || settled.length < 3) {
    throw new UserError(
      'failed',
      `the training told of ${steps.length} steps, which are too few`,
      'Measure more steps',
    );
  }
  const of = (value: (line: StepLine) => number): number[] => settled.map(value);
  const sum = (value: (line: StepLine) => number): number => of(value).reduce((a, b) => a + b, 0);
  const all = sum((line) => line.step_ms);
  const alike = hosts.filter(({ rank }) => isLikeOthers(rank, start));
  const ranks = ranksOf(alike, new Set(of((line) => line.step)));
  return {
    batch: start.batch_size * (start.accumulate ?? 1),
    gradientBytes: start.parameters * gradientBytes,
    imagesPerSec: spreadOf(of((line) => line.images_per_sec)),
    stepMs: spreadOf(of((line) => line.step_ms)),
    commMs: spreadOf(of((line) => line.comm_ms)),
    inputMs: spreadOf(of((line) => line.input_wait_ms)),
    waits: {
      communication: sum((line) => line.comm_ms) / all,
      input: sum((line) => line.input_wait_ms) / all,
    },
    computeSamples: of((line) =>
      Number(Math.max(0, line.step_ms - line.comm_ms - line.input_wait_ms).toPrecision(5)),
    ),
    ...(ranks.length === 0 ? {} : { ranks }),
  };
}

/** Of each rank, medians over its lines of these steps. */
function ranksOf(hosts: readonly HostLine[], steps: ReadonlySet<number>): RankTimes[] {
  const byRank = new Map<number, [RankTimes, ...RankTimes[]]>();
  for (const line of hosts) {
    const times = steps.has(line.step) ? rankTimesOf(line) : undefined;
    const known = byRank.get(line.rank);
    if (times && known) known.push(times);
    else if (times) byRank.set(line.rank, [times]);
  }
  return [...byRank.values()].map(medianTimes).sort((a, b) => a.rank - b.rank);
}

/** The milliseconds that the trainer's `bench allreduce` prints for that many bytes. */
export function allReduceMsOf(printed: readonly string[], bytes: number): number | null {
  for (const text of printed) {
    const [, found] = /"bytes":(\d+)\b/.exec(text) ?? [];
    const [, ms] = /"ms":([\d.eE+-]+)/.exec(text) ?? [];
    if (Number(found) === bytes && ms !== undefined && Number(ms) > 0) return Number(ms);
  }
  return null;
}
