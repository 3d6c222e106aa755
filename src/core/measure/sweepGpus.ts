// How many trials of a sweep the GPUs of a profile have room for.
import type { Machine } from '../cluster/nodes/machine.js';
import type { GpuWish } from '../plan/request/gpuWish.js';
import type { TypedRun } from '../plan/request/request.js';
import { trialsAtOnce } from '../sweep/room.js';

/** `wish`: the GPUs of one trial on each of its nodes. UserError (usage, connection). */
export async function trialsOnGpus(
  machine: Machine,
  { nodes, hosts }: Pick<TypedRun, 'nodes' | 'hosts'>,
  wish: GpuWish | undefined,
): Promise<number> {
  const named = machine.nodes.filter(({ name }) => hosts === undefined || hosts.includes(name));
  const counts = await Promise.all(
    named.map(async ({ node }) => (await (await node.client()).request('host.sample')).gpus.length),
  );
  return trialsAtOnce(
    counts.filter((count) => count > 0),
    wish,
    nodes,
  );
}
