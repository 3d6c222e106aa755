// What the nodes of a cluster have to offer a run now.
import type { HostSample } from '../metrics/schema.js';
import type { NodeOffer, OfferedGpu } from '../runs/placement.js';
import type { SshNode } from './sshNode.js';

export async function offersOf(nodes: readonly SshNode[]): Promise<NodeOffer[]> {
  return Promise.all(
    nodes.map(async ({ host, address, node }) => {
      const { cores } = await node.hello();
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
