// Which GPUs each node has, and whether they are in good order.
import { good, warned, type CheckResult } from '../base/checks.js';
import type { HostSample } from '../contracts/metricsSchema.js';
import { gpuTrouble } from '../model/hosts/gpuTrouble.js';

/** A node with its figures. */
export interface SampledNode {
  host: string;
  sample: Pick<HostSample, 'gpus'>;
}

/** Rows of models and of health (ECC, clocks held down). Empty where no node has a GPU. */
export function judgeGpus(nodes: readonly SampledNode[]): CheckResult[] {
  if (nodes.every(({ sample }) => sample.gpus.length === 0)) return [];
  return nodes.flatMap(({ host, sample: { gpus } }) => {
    const models = { ...good('GPU models', modelsOf(gpus.map(({ name }) => name))), host };
    return gpus.length === 0 ? [models] : [models, { ...judgeHealth(gpus), host }];
  });
}

function modelsOf(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const kinds = [...new Set(names)].sort();
  return kinds.map((kind) => `${names.filter((name) => name === kind).length} x ${kind}`).join(', ');
}

function judgeHealth(gpus: HostSample['gpus']): CheckResult {
  const name = 'GPU health';
  const troubles = gpus.flatMap((gpu) => {
    const words = gpuTrouble(gpu);
    return words.length === 0 ? [] : [`GPU ${gpu.index}: ${words.join(', ')}`];
  });
  if (troubles.length === 0) return good(name, 'no memory errors, no clock held down');
  const hint =
    'Look on the node: nvidia-smi -q -d ECC,PERFORMANCE,TEMPERATURE. Leave the GPU out by "gpus" of the host until it is repaired';
  return warned(name, troubles.join('; '), hint);
}
