// Many GPUs over time as a grid of cells: which sample of which GPU a cell shows.
import type { GpuColumns, HostColumns } from '../../protocol.js';
import { lastAtMost } from '../elements/sampling.js';

export type HeatKind = 'memory' | 'utilization';

export interface HeatRow {
  host: HostColumns;
  gpu: GpuColumns;
}

export const heatRows = (hosts: readonly HostColumns[]): HeatRow[] =>
  hosts.flatMap((host) => host.gpus.map((gpu) => ({ host, gpu })));

/** 0 to 1, or null. */
export function heatValue({ gpu }: HeatRow, sample: number, kind: HeatKind): number | null {
  const value = (kind === 'memory' ? gpu.used : gpu.utilization)[sample] ?? null;
  if (value === null) return null;
  return Math.min(1, Math.max(0, value / (kind === 'memory' ? gpu.memoryTotal : 100)));
}

/**
 * For each of `columns` equal parts of [low, high] the newest sample in it, or -1 where the host
 * has none by then.
 */
export function sampleColumns(
  time: readonly number[],
  low: number,
  high: number,
  columns: number,
): Int32Array {
  const samples = new Int32Array(columns).fill(-1);
  const first = time[0] ?? Infinity;
  const last = time.at(-1) ?? -Infinity;
  const width = (high - low) / columns;
  for (let column = 0; column < columns; column++) {
    const end = low + (column + 1) * width;
    // A cell that begins after the newest sample would show what nobody measured.
    if (end < first || end - width > last) continue;
    samples[column] = lastAtMost(time, end);
  }
  return samples;
}
