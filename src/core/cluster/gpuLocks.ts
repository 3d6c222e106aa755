// The locks of a run's GPUs, taken on every node before anything of the run is made: see
// docs/contracts/gpus.md.
import { setTimeout as pause } from 'node:timers/promises';
import { AgentError } from '../agent/agentClient.js';
import type { AgentNode } from '../agent/agentNode.js';
import { UserError } from '../base/errors.js';
import type { NodePath } from '../base/nodePath.js';
import { agentErrors } from '../contracts/agentApi.js';
import type { NodeOffer, Placement } from '../plan/placement.js';

/** A placement, and what the nodes offered when it was chosen. */
interface Chosen {
  placement: Placement;
  offers: readonly NodeOffer[];
}

interface Locks {
  client: Awaited<ReturnType<AgentNode['client']>>;
  locks: string;
}

/** Locks that the nodes' agents hold for a start, until `run.start` and `run.join` pass them on. */
export class GpuLocks {
  constructor(private readonly locks: ReadonlyMap<string, Locks>) {}

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
class GpuTaken extends Error {
  override readonly name = 'GpuTaken';
}

/** What holds the locks, as far as it is known before the start. */
export interface LockHolder {
  /** The run's folder where the user named one. */
  dir: NodePath | undefined;
}

/** Times that GPUs are chosen before a start gives up. */
const mostChoices = 5;

/**
 * Chooses, and takes the locks of what was chosen. Where another start was quicker, `choose` is
 * asked once more, unless the GPUs were named. UserError (preflight) naming the holder, AgentError,
 * and what `choose` throws.
 */
export async function chooseAndTake<C extends Chosen>(
  choose: () => Promise<C>,
  nodeOf: (host: string) => AgentNode,
  options: LockHolder & { profile: string; named: boolean },
): Promise<{ chosen: C; locks: GpuLocks }> {
  for (let choice = 1; ; choice += 1) {
    const chosen = await choose();
    try {
      return { chosen, locks: await takeGpus(chosen, nodeOf, options) };
    } catch (error) {
      if (!(error instanceof GpuTaken)) throw error;
      if (options.named || choice === mostChoices) {
        const hint = { kind: 'otherGpus', profile: options.profile } as const;
        throw new UserError('preflight', error.message, hint, { cause: error });
      }
      await pause(50 + Math.random() * 200); // or the same two starts would meet again
    }
  }
}

/** All of them, or none and GpuTaken. AgentError. */
async function takeGpus(
  { placement, offers }: Chosen,
  nodeOf: (host: string) => AgentNode,
  { dir }: LockHolder,
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
