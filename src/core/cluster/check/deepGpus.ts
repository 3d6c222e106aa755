// What the GPUs of nodes multiply, measured where a check goes deep.
import { good, type CheckResult } from '../../base/checks.js';
import { isCancelled } from '../../base/errors.js';
import { judgeDevices, type DeviceRate } from '../../check/slow.js';
import { onGpus } from '../../plan/cudaTrial.js';
import type { NodeOffer } from '../../plan/placement.js';
import type { NodeRuntime } from '../../setup/runtime.js';
import { cannotMeasure, rateOf, type Tried } from './deepCheck.js';

/** A node with GPUs, as it is asked. */
export interface GpuNode {
  name: string;
  runtime: Pick<NodeRuntime, 'trainer' | 'nvidia'>;
  /** What is free now is measured. */
  gpus: NodeOffer['gpus'];
  run: (argv: readonly string[]) => Promise<Tried>;
}

/** The name of the row. */
export const gpuRow = 'GPU matmul';
/** Large enough that any GPU is busy, and small enough for the least memory: 0.4 GB in all. */
const gpuTrial = [
  ...['bench', 'matmul', '--device', 'cuda', '--precision', 'fp16', '--size', '8192', '--seconds', '1'],
];

/**
 * A matrix product in fp16 on each GPU that is free, all at once, and who is slow among those of
 * its model. A row for each node with GPUs. `env`: the profile's. UserError (connection),
 * Cancelled.
 */
export async function measureGpus(
  nodes: readonly GpuNode[],
  env: Record<string, string>,
): Promise<CheckResult[]> {
  const rates: DeviceRate[] = [];
  const others: CheckResult[] = [];
  await Promise.all(
    nodes.map(async ({ name: host, runtime, gpus, run }) => {
      const free = gpus.filter(({ busy }) => busy === undefined);
      if (free.length === 0) others.push({ ...good(gpuRow, 'not measured: no GPU is free'), host });
      await Promise.all(
        free.map(async ({ index, uuid, model = 'GPU' }) => {
          const device = `GPU ${index}`;
          const one = { ...env, CUDA_VISIBLE_DEVICES: uuid ?? String(index) };
          const ended = await run(onGpus(runtime.nvidia, one, [runtime.trainer, ...gpuTrial])).catch(
            (error: unknown): Tried => {
              if (isCancelled(error)) throw error;
              return { code: null, output: String(error) };
            },
          );
          const rate = rateOf(ended);
          if (rate === undefined) others.push({ ...cannotMeasure(gpuRow, device, ended), host });
          else rates.push({ host, device, kind: model, rate });
        }),
      );
    }),
  );
  rates.sort((a, b) => a.device.localeCompare(b.device, 'en', { numeric: true }));
  return [...others, ...judgeDevices(rates, gpuRow)];
}
