// What is wrong with a node's GPUs, in words, from a line of gpus/<host>.jsonl.
import type { HostSample } from '../../contracts/metricsSchema.js';

type GpuSample = HostSample['gpus'][number];

const reasons: Readonly<Record<string, string>> = {
  power_cap: 'slowed by its power limit',
  hardware: 'slowed by its hardware',
  sync_boost: 'slowed to keep step with other GPUs',
  heat: 'slowed by heat',
  hardware_heat: 'slowed to half or less by heat',
  power_brake: 'slowed to half or less by the power supply',
};

/**
 * Short phrases, the worst first; empty for a GPU in good order. Running at the power limit is that
 * too.
 */
export function gpuTrouble({ problem, ecc, slowed_by: slowedBy }: GpuSample): string[] {
  const words: string[] = [];
  if (problem) words.push(`does not work: ${problem}`);
  if (ecc && ecc.uncorrected > 0) words.push(memoryErrors(ecc.uncorrected, 'uncorrected'));
  for (const reason of slowedBy ?? []) {
    if (reason !== 'power_cap') words.push(reasons[reason] ?? `slowed: ${reason}`);
  }
  return words;
}

/**
 * All that a GPU tells of itself beyond its figures: trouble, and what a busy GPU may well have.
 */
export function gpuNotes(gpu: GpuSample): string[] {
  const words = gpuTrouble(gpu);
  if (gpu.ecc && gpu.ecc.corrected > 0) words.push(memoryErrors(gpu.ecc.corrected, 'corrected'));
  if (gpu.slowed_by?.includes('power_cap')) words.push('slowed by its power limit');
  return words;
}

/**
 * `GPUs: no answer since 16:20:05`, with the clock of the reader; empty where nothing is missing.
 */
export function missingFigures({ missing }: HostSample): string[] {
  return (missing ?? []).map(({ what, path, since, reason }) => {
    const name = what === 'gpus' ? 'GPUs' : `disk of ${path ?? 'the run'}`;
    return `${name}: ${reason} since ${clock(since)}`;
  });
}

const memoryErrors = (count: number, kind: string): string =>
  `${count} ${kind} memory ${count === 1 ? 'error' : 'errors'}`;

function clock(seconds: number): string {
  const date = new Date(seconds * 1000);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}
