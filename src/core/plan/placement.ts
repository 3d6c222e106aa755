// Which ranks run on which nodes of a cluster.
import { UserError } from '../base/errors.js';
import type { Remedy } from '../base/remedy.js';
import type { Host, Profile } from '../contracts/profileSchema.js';
import { flagValue, usesEverySlot } from './flags.js';

export interface OfferedGpu {
  index: number;
  /** Who occupies it, in words; undefined when it is free. */
  busy: string | undefined;
}

/** What one node has. */
export interface NodeOffer {
  host: Host;
  /** How the other nodes reach it. */
  address: string;
  cores: number;
  gpus: readonly OfferedGpu[];
  /** Why GPUs may be lacking above, in words; empty or left out where none are. */
  trouble?: string;
}

interface PlacedNode {
  host: string;
  address: string;
  slots: number;
  /** The GPUs its ranks take, in their order; null where they take none. */
  gpus: number[] | null;
  /** Folders of NVIDIA's libraries there. */
  nvidia?: string[];
}

export interface Placement {
  /** The head first. */
  nodes: PlacedNode[];
  ranks: number;
  threadsPerRank: number;
}

/**
 * Fills the nodes in their order, the head first. Training, `bench matmul` and `bench allreduce`
 * take every slot unless told how many; anything else is one process on the head. With `--device
 * cuda` a slot is a free GPU. UserError (usage, preflight) naming what there is when it does not
 * fit.
 */
export function placeRanks(
  profile: Profile,
  words: readonly string[],
  offers: readonly NodeOffer[],
  wanted: { ranks?: number; nodes?: number } = {},
): Placement {
  const cuda = flagValue(words, '--device') === 'cuda';
  const most = wanted.nodes ?? profile.maxNodes ?? offers.length;
  if (most > offers.length && wanted.nodes !== undefined) {
    const what = `${most} nodes were asked for, and profile ${profile.name} has ${offers.length}`;
    const hint = { kind: 'fewerNodes', profile: profile.name, nodes: offers.length } as const;
    throw new UserError('preflight', what, hint);
  }
  const rooms = offers.slice(0, most).map((offer) => roomOf(offer, cuda));
  const all = rooms.reduce((sum, { slots }) => sum + slots, 0);
  const ranks = wanted.ranks ?? (usesEverySlot(words) ? all : Math.min(1, all));
  if (ranks > all || ranks === 0) {
    const what =
      ranks === 0
        ? `no node of profile ${profile.name} has a free GPU`
        : `${ranks} ranks were asked for, and there is room for ${all}`;
    const hint: Remedy =
      all === 0
        ? { kind: 'useCpu', or: 'otherGpus', profile: profile.name }
        : { kind: 'fewerRanks', profile: profile.name, ranks: all, words, moreSlots: false };
    throw new UserError('preflight', `${what} (${rooms.map(roomText).join('; ')})`, hint);
  }
  let left = ranks;
  const nodes: PlacedNode[] = [];
  let threadsPerRank = Infinity;
  for (const { offer, slots, gpus } of rooms) {
    const taken = Math.min(slots, left);
    if (taken === 0) continue;
    left -= taken;
    const { host, address } = offer;
    nodes.push({ host: host.host, address, slots: taken, gpus: cuda ? gpus.slice(0, taken) : null });
    threadsPerRank = Math.min(threadsPerRank, Math.max(1, Math.floor(offer.cores / taken)));
  }
  if (nodes[0]?.host !== offers[0]?.host.host) {
    const what = `the head, ${offers[0]?.host.host ?? ''}, has no free slot, and a run's first rank is there`;
    throw new UserError('preflight', what, { kind: 'freeHead', profile: profile.name });
  }
  return { nodes, ranks, threadsPerRank };
}

interface Room {
  offer: NodeOffer;
  slots: number;
  gpus: number[];
  busy: string[];
}

function roomOf(offer: NodeOffer, cuda: boolean): Room {
  const { host } = offer;
  const listed = host.gpus ?? offer.gpus.map(({ index }) => index);
  if (!cuda) return { offer, slots: host.slots ?? Math.max(1, listed.length), gpus: [], busy: [] };
  const gpus: number[] = [];
  const busy: string[] = [];
  for (const index of listed) {
    const gpu = offer.gpus.find((each) => each.index === index);
    if (!gpu) busy.push(`GPU ${index} is not there`);
    else if (gpu.busy !== undefined) busy.push(`GPU ${index} is taken by ${gpu.busy}`);
    else gpus.push(index);
  }
  return { offer, slots: Math.min(gpus.length, host.slots ?? gpus.length), gpus, busy };
}

function roomText({ offer, slots, busy }: Room): string {
  const words = offer.trouble ? [...busy, offer.trouble] : busy;
  const what = words.length === 0 ? '' : `, ${words.join(', ')}`;
  return `${offer.host.host} has ${slots}${what}`;
}

/**
 * Each node's ranks are told the folders of NVIDIA's libraries that their node has; `folders` by
 * its host.
 */
export function withLibraries(
  placement: Placement,
  folders: ReadonlyMap<string, readonly string[] | undefined>,
): Placement {
  const nodes = placement.nodes.map((node) => {
    const nvidia = folders.get(node.host);
    return nvidia ? { ...node, nvidia: [...nvidia] } : node;
  });
  return { ...placement, nodes };
}
