// Many devices over time as a grid of cells: which sample of which device a cell shows.
import type { Figure, GpuColumns, HostColumns } from '../../protocol.js';
import { plural } from '../model/format.js';
import { lastAtMost } from '../elements/sampling.js';

export type HeatKind = 'memory' | 'utilization';

/** A GPU, or a host that has none. */
export interface HeatRow {
  host: HostColumns;
  gpu: GpuColumns | undefined;
}

export const heatRows = (hosts: readonly HostColumns[]): HeatRow[] =>
  hosts.flatMap((host): HeatRow[] =>
    host.gpus.length > 0 ? host.gpus.map((gpu) => ({ host, gpu })) : [{ host, gpu: undefined }],
  );

/** `gpu1 GPU 3`, or the host's name. */
export const rowName = ({ host, gpu }: HeatRow): string =>
  gpu === undefined ? host.host : `${host.host} GPU ${gpu.index}`;

/** Bytes, of the GPU or of the host. */
export const rowMemory = ({ host, gpu }: HeatRow): { used: readonly Figure[]; total: number } =>
  gpu === undefined
    ? { used: host.memoryUsed, total: host.memoryTotal }
    : { used: gpu.used, total: gpu.memoryTotal };

/** Percent, of the GPU or of the host's CPU. */
export const rowUse = ({ host, gpu }: HeatRow): readonly Figure[] =>
  gpu === undefined ? host.cpuPercent : gpu.utilization;

/** `17 GPUs`, `3 GPUs and 20 hosts without any`. */
export function rowsText(rows: readonly HeatRow[]): string {
  const gpus = rows.filter(({ gpu }) => gpu !== undefined).length;
  const hosts = rows.length - gpus;
  if (hosts === 0) return plural(gpus, 'GPU');
  return gpus === 0
    ? plural(hosts, 'host')
    : `${plural(gpus, 'GPU')} and ${plural(hosts, 'host')} without any`;
}

/** 0 to 1, or null. */
export function heatValue(row: HeatRow, sample: number, kind: HeatKind): number | null {
  const { used, total } = rowMemory(row);
  const value = (kind === 'memory' ? used : rowUse(row))[sample] ?? null;
  if (value === null || (kind === 'memory' && total === 0)) return null; // a GPU that is lost has no memory
  return Math.min(1, Math.max(0, value / (kind === 'memory' ? total : 100)));
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
