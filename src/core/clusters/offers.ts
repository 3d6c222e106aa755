// What the nodes of a cluster have to offer a run now.
import type { Progress } from '../machine.js';
import type { HostSample } from '../metrics/schema.js';
import type { NodeOffer, OfferedGpu } from '../runs/placement.js';
import type { SshNode } from './sshNode.js';

export async function offersOf(nodes: readonly SshNode[], progress: Progress = {}): Promise<NodeOffer[]> {
  return Promise.all(
    nodes.map(async (each) => {
      const { host, address, node } = each;
      const { cores } = await each.hello(progress);
      const { gpus } = await (await node.client()).request('host.sample');
      return { host, address, cores, gpus: gpus.map(offeredGpu) };
    }),
  );
}

/** A GPU on which any process holds memory is somebody's. */
function offeredGpu({ index, processes }: HostSample['gpus'][number]): OfferedGpu {
  const [first] = processes;
  return { index, busy: first && `process ${first.pid}` };
}
