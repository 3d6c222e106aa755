// The model's hosts, GPUs and ranks as tiles.
import type { GpuColumns, HostColumns, RankColumns } from '../../protocol.js';
import type { Tile, TileLine } from './deviceTile.js';
import { bytes, bytesOf, count, milliseconds, percentOf100 } from '../model/format.js';
import type { PageModel } from '../model/model.js';
import { staleness, usualDistance } from '../model/phase.js';

/** From here on tiles no longer fit a glance. */
export const heatFrom = 17;

/** GPUs, and hosts that have none. */
export const deviceCount = ({ hosts }: Pick<PageModel, 'hosts'>): number =>
  hosts.reduce((sum, { gpus }) => sum + Math.max(1, gpus.length), 0);

/** What there is of it, in one line. */
function warningOf(...parts: readonly string[]): string | undefined {
  const words = parts.filter((part) => part !== '');
  return words.length === 0 ? undefined : words.join('; ');
}

function gpuTile(model: PageModel, host: HostColumns, gpu: GpuColumns, now: number): Tile {
  const others = gpu.processes.filter(({ ours }) => !ours);
  return {
    id: gpu.uuid,
    title: `GPU ${gpu.index}`,
    subtitle: gpu.name,
    compact: false,
    time: model.allWithoutPauses(host.time),
    lines: [
      {
        label: 'use',
        now: percentOf100(gpu.utilization.at(-1) ?? null),
        color: 'blue',
        values: gpu.utilization,
        top: 100,
      },
      {
        label: 'memory',
        now: bytesOf(gpu.used.at(-1) ?? null, gpu.memoryTotal),
        color: 'purple',
        values: gpu.used,
        top: gpu.memoryTotal,
      },
    ],
    more: [
      ...(gpu.temperature === null ? [] : [`${count(gpu.temperature)} °C`]),
      ...(gpu.power === null ? [] : [`${count(gpu.power)} W`]),
    ],
    warning: warningOf(
      host.missing,
      gpu.trouble,
      others.length === 0
        ? ''
        : `also used by someone else: pid ${others.map(({ pid, memory }) => `${pid} (${bytes(memory)})`).join(', ')}`,
    ),
    age: staleness(host.time.at(-1), now, model.head?.over ?? false),
  };
}

function hostTile(model: PageModel, host: HostColumns, now: number): Tile {
  const lines: TileLine[] = [
    {
      label: 'CPU',
      now: percentOf100(host.cpuPercent.at(-1) ?? null),
      color: 'blue',
      values: host.cpuPercent,
      top: 100,
    },
    {
      label: 'memory',
      now: bytesOf(host.memoryUsed.at(-1) ?? null, host.memoryTotal),
      color: 'purple',
      values: host.memoryUsed,
      top: host.memoryTotal,
    },
  ];
  return {
    id: `host ${host.host}`,
    title: host.host,
    subtitle: 'host',
    compact: false,
    time: model.allWithoutPauses(host.time),
    lines,
    more: [`${bytes(host.diskFree)} free on disk`],
    warning: warningOf(host.missing),
    age: staleness(host.time.at(-1), now, model.head?.over ?? false),
  };
}

function rankTile(model: PageModel, rank: RankColumns, now: number): Tile {
  return {
    id: `rank ${rank.rank}`,
    title: `Rank ${rank.rank}`,
    subtitle: rank.device,
    compact: true,
    time: model.allWithoutPauses(rank.time),
    lines: [
      {
        label: 'memory',
        now: bytes(rank.used.at(-1) ?? null),
        color: 'green',
        values: rank.used,
        top: Math.max(1, rank.peak * 1.1),
      },
      ...stepLines(rank),
    ],
    more: [`peak ${bytes(rank.peak)}`],
    warning: warningOf(rank.slow),
    age: staleness(rank.time.at(-1), now, model.head?.over ?? false, usualDistance(model, rank.time)),
  };
}

/** Its GPUs where it has any, otherwise the host itself. */
export const deviceTiles = (model: PageModel, host: HostColumns, now: number): Tile[] =>
  host.gpus.length > 0
    ? host.gpus.map((gpu) => gpuTile(model, host, gpu, now))
    : [hostTile(model, host, now)];

/**
 * Where the time of the rank's steps goes, by the names and colours of the chart of the step time.
 */
function stepLines({ times }: RankColumns): TileLine[] {
  if (!times) return [];
  const line = (label: string, value: number, color: TileLine['color']): TileLine => ({
    ...{ label, now: milliseconds(value), color },
    ...{ values: [], top: 1 },
  });
  return [
    line('compute', times.compute, 'blue'),
    line('comm', times.comm, 'purple'),
    line('input wait', times.input, 'yellow'),
  ];
}

/** Of these ranks: of all where there are few, else of the first ones and those that are slow. */
export const rankTiles = (model: PageModel, ranks: readonly RankColumns[], now: number): Tile[] =>
  ranks
    .filter(({ slow }, index) => index < heatFrom || slow !== '')
    .slice(0, 2 * heatFrom)
    .map((rank) => rankTile(model, rank, now));

/** Ranks for which the others wait, beside a heat map. */
export const slowRankTiles = (model: PageModel, now: number): Tile[] =>
  model.ranks
    .filter(({ slow }) => slow !== '')
    .slice(0, heatFrom)
    .map((rank) => rankTile(model, rank, now));
