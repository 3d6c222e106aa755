// The locks of a run's GPUs, taken on every node before anything of the run is made: see
// docs/contracts/gpus.md.
import { AgentError } from '../../agent/agentClient.js';
import type { AgentNode } from '../../agent/agentNode.js';
import type { NodePath } from '../../base/nodePath.js';
import { agentErrors } from '../../contracts/agentApi.js';
import type { NodeOffer, Placement } from '../../plan/placement.js';

/** The GPUs of each node, and what the nodes offered when these were chosen. */
interface Chosen {
  placement: { nodes: readonly Pick<Placement['nodes'][number], 'host' | 'gpus'>[] };
  offers: readonly NodeOffer[];
}

interface Locks {
  client: Awaited<ReturnType<AgentNode['client']>>;
  locks: string;
}

/** Locks that the nodes' agents hold for a start, until `run.start` and `run.join` pass them on. */
export class GpuLocks {
  constructor(private readonly locks: ReadonlyMap<string, Locks> = new Map()) {}

  /** What `run.start` or `run.join` on that host is given: empty where the run takes no GPU there. */
  of(host: string): { gpuLocks?: string } {
    const found = this.locks.get(host);
    return found === undefined ? {} : { gpuLocks: found.locks };
  }

  /** Gives back what was not passed on. A connection that is gone has given back already. */
  async giveBack(): Promise<void> {
    await Promise.allSettled(
      [...this.locks.values()].map(({ client, locks }) => client.request('gpus.give_back', { locks })),
    );
  }
}

/** Another start has taken a GPU since the nodes were looked at. */
export class GpuTaken extends Error {
  override readonly name = 'GpuTaken';
}

/** All of them, or none and GpuTaken. `dir`: the run's folder where the user named one. AgentError. */
export async function takeGpus(
  { placement, offers }: Chosen,
  nodeOf: (host: string) => AgentNode,
  dir: NodePath | undefined,
): Promise<GpuLocks> {
  const taken = new Map<string, Locks>();
  const tries = await Promise.allSettled(
    placement.nodes.map(async ({ host, gpus }) => {
      if (gpus === null || gpus.length === 0) return;
      const offered = offers.find((offer) => offer.host.host === host)?.gpus ?? [];
      const names = gpus.map((index) => ({
        index,
        uuid: offered.find((gpu) => gpu.index === index)?.uuid ?? '',
      }));
      const client = await nodeOf(host).client();
      const params = { gpus: names, ...(dir === undefined ? {} : { dir }) };
      const { locks } = await client.request('gpus.take', params);
      taken.set(host, { client, locks });
    }),
  );
  const locks = new GpuLocks(taken);
  const failures = tries.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  if (failures.length === 0) return locks;
  await locks.giveBack();
  const other = failures.find((error) => !isTaken(error));
  if (other !== undefined) throw asError(other);
  const [first] = failures.filter(isTaken);
  throw new GpuTaken(first?.message.replace(/\. .*$/, ''), { cause: first });
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const isTaken = (error: unknown): error is AgentError =>
  error instanceof AgentError && error.code === agentErrors.taken;
