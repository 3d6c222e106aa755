// How many trials of a sweep may be under way at once, and on which nodes.
import type { Machine } from '../cluster/nodes/machine.js';
import type { GpuWish } from '../plan/request/gpuWish.js';
import type { TypedRun } from '../plan/request/request.js';
import { sharedHosts, type TrialHost } from '../sweep/hosts.js';
import { roomFor, trialsAtOnce } from '../sweep/room.js';

/** `hosts`: among which trials of one node are shared out; empty where they are not. */
interface TrialPlaces {
  atOnce: number;
  hosts: readonly TrialHost[];
}

/**
 * `asked`: a number of trials at once, or as many as the GPUs have room for. `wish`: the GPUs of
 * one trial on each of its nodes. UserError (usage, connection).
 */
export async function trialPlaces(
  machine: Machine,
  trial: TypedRun,
  asked: number | 'gpus',
  wish: GpuWish | undefined,
): Promise<TrialPlaces> {
  const shared = sharedHosts(trial);
  const named = shared ?? trial.hosts;
  const nodes = machine.nodes.filter(({ name }) => named === undefined || named.includes(name));
  if (asked !== 'gpus') {
    if (!shared || asked === 1) return { atOnce: asked, hosts: [] };
    return { atOnce: asked, hosts: (await reached(nodes)).map(({ name }) => ({ host: name, room: 1 })) };
  }
  if (!shared) {
    const counts = await Promise.all(nodes.map(gpusOf));
    return {
      atOnce: trialsAtOnce(
        counts.filter((count) => count > 0),
        wish,
        trial.nodes,
      ),
      hosts: [],
    };
  }
  const hosts = await Promise.all(
    (await reached(nodes)).map(async (one) => ({ host: one.name, room: roomFor(await gpusOf(one), wish) })),
  );
  const roomy = hosts.filter(({ room }) => room > 0);
  if (roomy.length === 0) return { atOnce: trialsAtOnce([], wish, 1), hosts: [] };
  return { atOnce: roomy.reduce((sum, { room }) => sum + room, 0), hosts: roomy };
}

type NamedNode = Machine['nodes'][number];

const gpusOf = async ({ node }: NamedNode): Promise<number> =>
  (await (await node.client()).request('host.sample')).gpus.length;

/** A node that cannot be reached now gets no trial. Rejects where none can. */
async function reached(nodes: readonly NamedNode[]): Promise<NamedNode[]> {
  const tried = await Promise.allSettled(nodes.map(({ node }) => node.client()));
  const there = nodes.filter((_, at) => tried[at]?.status === 'fulfilled');
  const failed = tried.find((one) => one.status === 'rejected');
  if (there.length === 0 && failed) throw failed.reason;
  return there;
}
