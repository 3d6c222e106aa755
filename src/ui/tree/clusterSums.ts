// What the row of a cluster says of all its nodes, from figures that others have asked for.
import type { HostSample } from '../../core/contracts/metricsSchema.js';
import { gpuHolder } from '../../core/model/hosts/gpuHolders.js';
import { isUnderWay, type RunStatus } from '../../core/model/runStatus.js';
import { plural } from '../figureText.js';

/**
 * `2 nodes, 16 GPUs, 14 busy`, of the nodes whose figures are known now; undefined while there
 * are none. `samples`: of every node, undefined for one that is silent.
 */
export function nodesText(samples: readonly (HostSample | undefined)[]): string | undefined {
  const known = samples.filter((sample) => sample !== undefined);
  if (known.length === 0) return undefined;
  const gpus = known.flatMap((sample) => sample.gpus);
  const busy = gpus.filter((gpu) => gpuHolder(gpu) !== undefined).length;
  const silent = samples.length - known.length;
  return [
    plural(samples.length, 'node'),
    gpus.length === 0 ? 'no GPU' : plural(gpus.length, 'GPU'),
    ...(gpus.length === 0 ? [] : [`${busy} busy`]),
    ...(silent === 0 ? [] : [`${silent} silent`]),
  ].join(', ');
}

/** `queued 1, running 0`, of the runs of a profile. */
export function queueText(statuses: readonly RunStatus[]): string {
  const queued = statuses.filter((status) => status === 'queued').length;
  const running = statuses.filter(isUnderWay).length - queued;
  return `queued ${queued}, running ${running}`;
}
