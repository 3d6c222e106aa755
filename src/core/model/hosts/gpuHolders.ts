// Who holds a GPU, in words: a run by its lock, else the processes that compute on it.
import type { HostSample } from '../../contracts/metricsSchema.js';

type GpuSample = HostSample['gpus'][number];

/**
 * `run 20261123-205103-resnet50-91ab (process 20481)`, `process 4242 of bob (python3 t.py)`; the
 * run by its lock first. Empty where the GPU is free.
 */
export function gpuHolders(gpu: GpuSample): string[] {
  const lock = lockHolder(gpu);
  const others = gpu.processes.filter(({ run }) => lock === undefined || run !== gpu.held_by?.run);
  return [...(lock === undefined ? [] : [lock]), ...others.map(processWords)];
}

/** `run 20261123-205103-resnet50-91ab (process 20481)`; undefined where the lock is free. */
export function lockHolder({ held_by: lock }: GpuSample): string | undefined {
  if (!lock) return undefined;
  return `${lock.run === '' ? 'a run that is being started' : `run ${lock.run}`}${pid(lock.pid)}`;
}

/** The first holder, and how many more there are; undefined where the GPU is free. */
export function gpuHolder(gpu: GpuSample): string | undefined {
  const [first, ...more] = gpuHolders(gpu);
  return first === undefined || more.length === 0 ? first : `${first} and ${more.length} more`;
}

/** `process 4242 of bob (python3 t.py)`, or `run R (process 4242)` for a process of a run. */
export function processWords({ pid: number, user, command, run }: GpuSample['processes'][number]): string {
  if (run) return `run ${run}${pid(number)}`;
  return `process ${number}${user ? ` of ${user}` : ''}${command ? ` (${short(command)})` : ''}`;
}

const pid = (number: number): string => (number === 0 ? '' : ` (process ${number})`);

/** Letters of a command that a line of text has. */
const mostLetters = 60;
const short = (text: string): string =>
  text.length <= mostLetters ? text : `${text.slice(0, mostLetters - 1)}…`;
