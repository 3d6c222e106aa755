// Whether GPUs that a run holds do nothing, from the lines of gpus/<host>.jsonl.
import type { HostSample } from '../../contracts/metricsSchema.js';
import type { RunFile, RunState } from '../../contracts/runSchema.js';

/** Percent; a GPU below it does nothing. */
const idleBelow = 5;
/** Seconds for which a GPU has to do nothing. */
const idleAfter = 15 * 60;
/** Seconds without a line after which nobody knows what a GPU did meanwhile. */
const longestGap = 180;

/** `idle` of the run's `all` GPUs have done nothing for `seconds` at least. */
export interface IdleGpus {
  idle: number;
  all: number;
  seconds: number;
}

/** GPUs as NVML counts them. `host` is left out where the run has one machine alone. */
interface HeldGpus {
  host?: string;
  gpus: readonly number[];
}

/** The GPUs that a run holds on each of its hosts; empty where it holds none, or nobody knows. */
export function gpusHeldBy(run: RunFile | null): HeldGpus[] {
  const nodes = run?.nodes?.filter(({ spare }) => spare !== true);
  const held = nodes?.map(({ host, gpus }) => ({ host, gpus: gpus ?? [] })) ?? [{ gpus: run?.gpus ?? [] }];
  return held.filter(({ gpus }) => gpus.length > 0);
}

/** What the GPUs of one host did of late. Its lines come in their order. */
export class GpuUse {
  private readonly idleSince = new Map<number, number>();
  private oldest: number | undefined;
  private newest: number | undefined;

  add({ time, gpus, missing }: HostSample): void {
    const { newest = time } = this;
    this.oldest ??= time;
    this.newest = time;
    const isOld = missing?.some(({ what }) => what === 'gpus') === true;
    if (isOld || time - newest > longestGap) this.idleSince.clear();
    if (isOld) return;
    for (const { index, utilization } of gpus) {
      if (utilization === null || utilization >= idleBelow) this.idleSince.delete(index);
      else if (!this.idleSince.has(index)) this.idleSince.set(index, time);
    }
  }

  /** Whether earlier lines could say that one of these GPUs is idle. */
  needsEarlier(gpus: readonly number[]): boolean {
    const { oldest, newest } = this;
    if (oldest === undefined || newest === undefined) return true;
    return newest - oldest < idleAfter && gpus.some((gpu) => this.idleSince.get(gpu) === oldest);
  }

  /** Seconds for which a GPU has done nothing since then; 0 where it works, or nobody knows. */
  idleFor(gpu: number, { since, now }: { since: number; now: number }): number {
    const begun = this.idleSince.get(gpu);
    if (begun === undefined || this.newest === undefined || now - this.newest > longestGap) return 0;
    return Math.max(0, this.newest - Math.max(begun, since));
  }
}

/**
 * The GPUs of a run that do nothing; undefined where none is idle. `use` is by host, and `began`
 * when the ranks were started last, in seconds since the epoch.
 */
export function idleGpusOf(
  { run, state }: { run: RunFile | null; state: RunState | null },
  use: ReadonlyMap<string, GpuUse>,
  began: number | undefined,
): IdleGpus | undefined {
  if (!state) return undefined;
  const span = { since: began ?? state.started, now: state.updated };
  const times = gpusHeldBy(run).flatMap(({ host, gpus }) => {
    const hosts = host === undefined ? [...use.values()] : [use.get(host)];
    return gpus.map((gpu) => Math.max(0, ...hosts.map((each) => each?.idleFor(gpu, span) ?? 0)));
  });
  const idle = times.filter((seconds) => seconds >= idleAfter);
  if (idle.length === 0) return undefined;
  return { idle: idle.length, all: times.length, seconds: Math.min(...idle) };
}
