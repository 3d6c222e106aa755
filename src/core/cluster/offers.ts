// What nodes have to offer a run now.
import { gpuTrouble, missingFigures } from '../model/gpuTrouble.js';
import type { Progress } from '../base/progress.js';
import type { AgentNode } from '../agent/agentNode.js';
import type { HostSample } from '../contracts/metricsSchema.js';
import type { Host } from '../contracts/profileSchema.js';
import type { NodeOffer, OfferedGpu } from '../plan/placement.js';
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
  const gpus = sample.gpus.filter(({ problem }) => !problem);
  return { host, address, cores, gpus: gpus.map(offeredGpu), trouble: troubleOf(sample) };
}

/** Why a GPU may be lacking in the list, in words. */
function troubleOf(sample: HostSample): string {
  const lost = sample.gpus.filter(({ problem }) => problem);
  return [
    ...missingFigures(sample),
    ...lost.map((gpu) => `GPU ${gpu.index} ${gpuTrouble(gpu).join(', ')}`),
  ].join(', ');
}

/** A GPU on which any process holds memory is somebody's. */
function offeredGpu({ index, processes }: HostSample['gpus'][number]): OfferedGpu {
  const [first] = processes;
  return { index, busy: first && `process ${first.pid}` };
}
