// What nodes have to offer a run now.
import { gpuTrouble, missingFigures } from '../../model/hosts/gpuTrouble.js';
import { good, type CheckResult } from '../../base/checks.js';
import { gpuHolder } from '../../model/hosts/gpuHolders.js';
import type { Progress } from '../../base/progress.js';
import type { AgentNode } from '../../agent/agentNode.js';
import type { HostSample } from '../../contracts/metricsSchema.js';
import type { Host } from '../../contracts/profileSchema.js';
import type { NodeOffer, OfferedGpu } from '../../plan/placement.js';
import type { SshNode } from './sshNode.js';

/**
 * Asks all nodes at once. `progress` hears of agents that must be installed first. UserError
 * (preflight, connection), Cancelled.
 */
export async function offersOf(nodes: readonly SshNode[], progress: Progress = {}): Promise<NodeOffer[]> {
  return Promise.all(
    nodes.map(async (each) => {
      await each.hello(progress);
      return offerOf(each.node, each.host, each.address);
    }),
  );
}

/** What one node has now: cores, GPUs that work, and why a GPU may be lacking. AgentError. */
export async function offerOf(node: AgentNode, host: Host, address: string): Promise<NodeOffer> {
  const { cores } = await node.hello();
  const sample = await (await node.client()).request('host.sample');
  return offerIn(sample, cores, host, address);
}

/** The same by figures that are there already. */
export function offerIn(sample: HostSample, cores: number, host: Host, address = host.host): NodeOffer {
  const gpus = sample.gpus.filter(({ problem }) => !problem);
  const { waiting = [] } = sample;
  return { host, address, cores, gpus: gpus.map(offeredGpu), waiting, trouble: troubleOf(sample) };
}

/** Why a GPU may be lacking in the list, in words. */
function troubleOf(sample: HostSample): string {
  const lost = sample.gpus.filter(({ problem }) => problem);
  return [
    ...missingFigures(sample),
    ...lost.map((gpu) => `GPU ${gpu.index} ${gpuTrouble(gpu).join(', ')}`),
  ].join(', ');
}

/** A GPU whose lock is held, or on which any process holds memory, is somebody's. */
const offeredGpu = (gpu: HostSample['gpus'][number]): OfferedGpu => ({
  index: gpu.index,
  uuid: gpu.uuid,
  model: gpu.name,
  busy: gpuHolder(gpu),
});

/** The node's GPUs as a check tells them, and who holds which; empty where there are none. */
export function gpuChecks({ gpus, trouble }: NodeOffer): CheckResult[] {
  if (gpus.length === 0 && !trouble) return [];
  const held = gpus.flatMap(({ index, busy }) =>
    busy === undefined ? [] : [`GPU ${index} is taken by ${busy}`],
  );
  const free = `${gpus.length - held.length} of ${gpus.length} free`;
  return [good('GPUs', [free, ...held, ...(trouble ? [trouble] : [])].join(', '))];
}
