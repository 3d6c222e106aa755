// Slices of rows and of columns put where they belong.
import type {
  FigureSeries,
  GpuColumns,
  HostColumns,
  RankColumns,
  Slice,
  StepColumns,
} from '../../protocol.js';

/**
 * Rows from `from` on are replaced. A slice that begins past the end would leave a hole: false, and
 * nothing is done.
 */
export function splice<T>(target: T[], from: number, rows: readonly T[]): boolean {
  if (from > target.length) return false;
  target.length = from;
  for (const row of rows) target.push(row);
  return true;
}

export const emptySteps = (): StepColumns => ({
  step: [],
  time: [],
  epoch: [],
  loss: [],
  lossMin: [],
  lossMax: [],
  top1: [],
  lr: [],
  imagesPerSec: [],
  imagesPerSecMin: [],
  imagesPerSecMax: [],
  stepMs: [],
  commMs: [],
  inputWaitMs: [],
});

const stepNames = Object.keys(emptySteps()) as (keyof StepColumns)[];

export function spliceSteps(target: StepColumns, { from, rows }: Slice<StepColumns>): boolean {
  return stepNames.every((name) => splice<number | null>(target[name], from, rows[name]));
}

export const copySteps = (steps: StepColumns): StepColumns =>
  Object.fromEntries(stepNames.map((name) => [name, steps[name].slice()])) as unknown as StepColumns;

export function spliceFigures(target: FigureSeries, { from, rows }: Slice<FigureSeries>): boolean {
  return (
    splice(target.step, from, rows.step) &&
    splice(target.time, from, rows.time) &&
    splice(target.value, from, rows.value) &&
    splice(target.min, from, rows.min) &&
    splice(target.max, from, rows.max)
  );
}

export function spliceHost(target: HostColumns, { from, rows }: Slice<HostColumns>): boolean {
  const { time, cpuPercent, memoryUsed, gpus, ...rest } = rows;
  const whole =
    splice(target.time, from, time) &&
    splice(target.cpuPercent, from, cpuPercent) &&
    splice(target.memoryUsed, from, memoryUsed);
  Object.assign(target, rest);
  // One that answered late, or was added, is not there yet: all of it is asked for again.
  return (
    whole &&
    gpus.length === target.gpus.length &&
    target.gpus.every((gpu, index) => spliceGpu(gpu, gpus[index], from))
  );
}

function spliceGpu(target: GpuColumns, update: GpuColumns | undefined, from: number): boolean {
  if (update?.uuid !== target.uuid) return false;
  const { used, utilization, ...rest } = update;
  Object.assign(target, rest);
  return splice(target.used, from, used) && splice(target.utilization, from, utilization);
}

export function spliceRank(target: RankColumns, { from, rows }: Slice<RankColumns>): boolean {
  const { time, used, ...rest } = rows;
  Object.assign(target, rest);
  return splice(target.time, from, time) && splice(target.used, from, used);
}
