// What a tree item says, from a snapshot; nothing here knows the editor.
import { contextValues } from '../../contributions.js';
import type { HostSample } from '../../core/metrics/schema.js';
import type { RunOverview } from '../../core/runs/overview.js';
import { isOver, type RunStatus } from '../../core/runs/status.js';

export interface ItemText {
  label: string;
  description: string;
  tooltip: string;
  /** A codicon and, where it helps, a theme colour. */
  icon: string;
  color?: string;
  contextValue: string;
}

const icons: Record<RunStatus, readonly [string, string?]> = {
  starting: ['sync', 'charts.blue'],
  running: ['play-circle', 'charts.blue'],
  stopping: ['sync', 'charts.yellow'],
  evaluating: ['beaker', 'charts.blue'],
  finished: ['pass', 'charts.green'],
  stopped: ['circle-slash'],
  failed: ['error', 'charts.red'],
  interrupted: ['warning', 'charts.yellow'],
  unknown: ['question'],
};

const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;
const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);
const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `running · 34% · 1,204 img/s`, `finished · 95.2%`, `failed: out of memory`. */
export function describeRun(overview: RunOverview): ItemText {
  const { entry, status, step, totalSteps, imagesPerSec, top1 } = overview;
  const [icon, color] = icons[status];
  const over = isOver(status);
  const reason = entry.state?.reason ?? '';
  const parts: string[] = [status === 'failed' && reason !== '' ? `failed: ${reason}` : status];
  if (!over && step !== undefined) {
    parts.push(totalSteps === undefined ? `step ${whole(step)}` : percent(step / totalSteps));
  }
  if (!over && imagesPerSec !== undefined) parts.push(`${whole(imagesPerSec)} img/s`);
  if (over && top1 !== undefined && status !== 'failed') parts.push(percent(top1));
  const lines = [
    entry.id,
    entry.dir,
    entry.run ? `${plural(entry.run.ranks, 'rank')}: ${entry.run.argv.join(' ')}` : '',
    step === undefined
      ? ''
      : `step ${whole(step)}${totalSteps === undefined ? '' : ` of ${whole(totalSteps)}`}`,
    reason,
  ];
  return {
    label: shortName(entry.id),
    description: parts.join(' · '),
    tooltip: lines.filter((line) => line !== '').join('\n'),
    icon,
    ...(color === undefined ? {} : { color }),
    contextValue: over ? contextValues.overRun : contextValues.activeRun,
  };
}

/** `resnet20-1f2e 11-21 10:45` of `20261121-104500-resnet20-1f2e`: the name first, the time (UTC) after it. */
export function shortName(id: string): string {
  const parts = /^\d{4}(\d\d)(\d\d)-(\d\d)(\d\d)\d\d-(.+)$/.exec(id);
  if (!parts) return id;
  const [, month, day, hour, minute, name] = parts;
  return `${name ?? ''} ${month ?? ''}-${day ?? ''} ${hour ?? ''}:${minute ?? ''}`;
}

/** `2 cores at 35%, 3.1/23.5 GB`. */
export function describeHost(sample: HostSample, cores: number): ItemText {
  const memory = `${gigabytes(sample.memory_used)}/${gigabytes(sample.memory_total)} GB`;
  return {
    label: sample.host,
    description: `${plural(cores, 'core')} at ${sample.cpu_percent.toFixed(0)}%, ${memory}`,
    tooltip: `${sample.host}: ${gigabytes(sample.disk_free)} GB of disk free, ${plural(sample.gpus.length, 'GPU')}`,
    icon: 'server',
    contextValue: 'host',
  };
}

/** `61.2/79.6 GB · 97% · 64°C`. */
export function describeGpu(gpu: HostSample['gpus'][number]): ItemText {
  const parts = [`${gigabytes(gpu.memory_used)}/${gigabytes(gpu.memory_total)} GB`];
  if (gpu.utilization !== null) parts.push(`${gpu.utilization.toFixed(0)}%`);
  if (gpu.temperature !== null) parts.push(`${gpu.temperature.toFixed(0)}°C`);
  return {
    label: `GPU ${gpu.index}  ${gpu.name}`,
    description: parts.join(' · '),
    tooltip: gpu.uuid,
    icon: 'circuit-board',
    contextValue: 'gpu',
  };
}
