// Lines of gpus/<host>.jsonl of a node with GPUs, with the figures that a test cares about.
import type { HostSample } from '../../../src/core/contracts/metricsSchema.js';

/** The GPUs by their numbers; `utilization` in percent, null where the driver does not tell it. */
export const gpuSample = (
  time: number,
  utilization: readonly (number | null)[],
  fields: Partial<HostSample> = {},
): HostSample => ({
  time,
  host: 'gpu1',
  cpu_percent: 12,
  memory_used: 9e9,
  memory_total: 2e11,
  disk_free: 1e12,
  gpus: utilization.map((percent, index) => ({
    index,
    uuid: `GPU-${index}`,
    name: 'NVIDIA H100 80GB HBM3',
    memory_used: 4e10,
    memory_total: 85_520_809_984,
    utilization: percent,
    temperature: 41,
    power_watts: 118.2,
    processes: [],
  })),
  ...fields,
});
