// What a host's devices come to, in words: one line for the host.
import type { Figure, HostColumns } from '../../protocol.js';
import { bytes, bytesOf, count, percentOf100, plural } from '../model/format.js';

export interface HostSum {
  /** `use`, `memory`: what the figure is of. */
  label: string;
  text: string;
}

const known = (values: readonly (Figure | undefined)[]): number[] =>
  values.filter((value): value is number => typeof value === 'number');
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Mean use, and memory and power together, of its GPUs; then the host's own figures. */
export function hostSums({ gpus, cpuPercent, memoryUsed, memoryTotal, diskFree }: HostColumns): HostSum[] {
  const use = known(gpus.map(({ utilization }) => utilization.at(-1)));
  const used = known(gpus.map((gpu) => gpu.used.at(-1)));
  const power = known(gpus.map((gpu) => gpu.power));
  const total = sum(gpus.map((gpu) => gpu.memoryTotal));
  const ofGpus: HostSum[] =
    gpus.length === 0
      ? []
      : [
          {
            label: `use of ${plural(gpus.length, 'GPU')}`,
            text: use.length > 0 ? percentOf100(sum(use) / use.length) : '–',
          },
          { label: 'GPU memory', text: bytesOf(used.length > 0 ? sum(used) : null, total) },
          ...(power.length === 0 ? [] : [{ label: 'power', text: `${count(sum(power))} W` }]),
        ];
  return [
    ...ofGpus,
    { label: 'CPU', text: percentOf100(cpuPercent.at(-1) ?? null) },
    { label: 'host memory', text: bytesOf(memoryUsed.at(-1) ?? null, memoryTotal) },
    { label: 'disk free', text: bytes(diskFree) },
  ];
}

/** How many devices of a host need a look, in words; empty where none does. */
export function hostTrouble({ gpus, missing }: HostColumns): string {
  const ill = gpus.filter(({ trouble }) => trouble !== '').length;
  const shared = gpus.filter(({ processes }) => processes.some(({ ours }) => !ours)).length;
  return [
    missing,
    ill === 0 ? '' : `trouble on ${plural(ill, 'GPU')}`,
    shared === 0 ? '' : `${plural(shared, 'GPU')} also used by someone else`,
  ]
    .filter((words) => words !== '')
    .join('; ');
}
