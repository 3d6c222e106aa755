// How many trials of a sweep may be under way at once, and on which nodes.
import { offerIn } from '../cluster/nodes/offers.js';
import type { Machine } from '../cluster/nodes/machine.js';
import { offerAsIfFree } from '../plan/gpuQueue.js';
import type { NodeOffer } from '../plan/placement.js';
import type { GpuWish } from '../plan/request/gpuWish.js';
import type { TypedRun } from '../plan/request/request.js';
import { sharedHosts, type TrialHost } from '../sweep/hosts.js';
import { roomFor, trialsAtOnce } from '../sweep/room.js';

/**
 * `hosts`: among which trials of one node are shared out; empty where they are not. `without`:
 * hosts that cannot be reached, and get none.
 */
export interface TrialPlaces {
  atOnce: number;
  /** How many run at a time of trials that wait by themselves; undefined where a queue says. */
  slots: number | undefined;
  hosts: readonly TrialHost[];
  /** All hosts that trials may be shared out among, also those without room now. */
  reserves: readonly string[];
  without: readonly string[];
}

/**
 * `asked`: a number of trials at once, or as many as the GPUs have room for. `wish`: the GPUs of
 * one trial on each of its nodes. `detached`: trials wait by themselves, also for GPUs that are held
 * now. UserError (usage, connection).
 */
export async function trialPlaces(
  machine: Machine,
  trial: TypedRun,
  asked: number | 'gpus',
  wish: GpuWish | undefined,
  detached = false,
): Promise<TrialPlaces> {
  const shared = asked === 1 ? undefined : sharedHosts(trial);
  const slots = asked === 'gpus' || trial.profile.kind === 'slurm' ? undefined : asked;
  const unshared = { slots, hosts: [], reserves: [], without: [] };
  if (!shared && asked !== 'gpus') return { atOnce: asked, ...unshared };
  const named = shared ?? trial.hosts;
  const nodes = machine.nodes.filter(({ name }) => named === undefined || named.includes(name));
  if (!shared) {
    const counts = await Promise.all(nodes.map(gpusOf));
    return { atOnce: trialsAtOnce(counts, wish, trial.nodes), ...unshared };
  }

  const { there, without } = await reached(nodes);
  const offers = await Promise.all(there.map((one) => offerTo(one, trial)));
  const hosts = offers
    .map((offer) => ({
      host: offer.host.host,
      room: roomOn(detached ? offerAsIfFree(offer) : offer, wish, asked),
    }))
    .filter(({ room }) => room > 0);
  // Where all GPUs are taken, or none has room, a start says so, or queues.
  const reserves = there.map(({ name }) => name);
  if (asked !== 'gpus') return { atOnce: asked, slots, hosts, reserves, without };
  const room = hosts.reduce((sum, one) => sum + one.room, 0);
  const counts = offers.map(({ gpus }) => gpus.length);
  const atOnce = room > 0 ? room : trialsAtOnce(counts, wish, trial.nodes);
  return { atOnce, slots, hosts, reserves, without };
}

type NamedNode = Machine['nodes'][number];

const sampleOf = async ({ node }: NamedNode) => (await node.client()).request('host.sample');
const gpusOf = async (node: NamedNode): Promise<number> => (await sampleOf(node)).gpus.length;

/** With the GPUs that work, and that the profile lets runs take. */
async function offerTo(node: NamedNode, { profile }: TypedRun): Promise<NodeOffer> {
  const host = profile.hosts?.find((one) => one.host === node.name) ?? { host: node.name };
  const offer = offerIn(await sampleOf(node), 0, host);
  return { ...offer, gpus: offer.gpus.filter(({ index }) => host.gpus?.includes(index) ?? true) };
}

/** Of trials that take GPUs, by those that are free now: others may hold theirs for days. */
function roomOn({ gpus }: NodeOffer, wish: GpuWish | undefined, asked: number | 'gpus'): number {
  if (wish === undefined && asked !== 'gpus') return 1;
  const free = gpus.filter(({ busy }) => busy === undefined);
  if (wish?.indices && asked !== 'gpus') {
    return wish.indices.every((index) => free.some((gpu) => gpu.index === index)) ? 1 : 0;
  }
  return roomFor(free.length, wish);
}

/** Rejects where none can be reached. */
async function reached(nodes: readonly NamedNode[]): Promise<{ there: NamedNode[]; without: string[] }> {
  const tried = await Promise.allSettled(nodes.map(({ node }) => node.client()));
  const isThere = (at: number): boolean => tried[at]?.status === 'fulfilled';
  const there = nodes.filter((_, at) => isThere(at));
  const failed = tried.find((one) => one.status === 'rejected');
  if (there.length === 0 && failed) throw failed.reason;
  return { there, without: nodes.filter((_, at) => !isThere(at)).map(({ name }) => name) };
}
