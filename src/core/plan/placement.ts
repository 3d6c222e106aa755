// Which ranks run on which nodes: of a cluster, or on this machine alone.
import { UserError } from '../base/errors.js';
import { plural } from '../base/plural.js';
import type { Remedy } from '../base/remedy.js';
import { hasRanks } from '../contracts/slots.js';
import type { WaitingStart } from '../contracts/metricsSchema.js';
import type { Host, Profile } from '../contracts/profileSchema.js';
import { wishedFrom, type GpuWish } from './request/gpuWish.js';
import type { Device, RunRequest } from './request/request.js';

/** One GPU of a node. `index` is as NVML counts. */
export interface OfferedGpu {
  index: number;
  /** NVML's name of it; empty or left out where the driver tells none. */
  uuid?: string;
  /** As NVML names it. */
  model?: string;
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
  /** Who waits for them, in the order of the queue; left out where nobody was asked. */
  waiting?: readonly WaitingStart[];
  /** Why GPUs may be lacking above, in words; empty or left out where none are. */
  trouble?: string;
  /** This machine, of a profile of kind local. */
  isHere?: boolean;
}

interface PlacedNode {
  host: string;
  address: string;
  /** 0: the head, which holds the run, and has no rank. */
  slots: number;
  /** How many workers its one process may start, where each node has one. */
  workers?: number;
  /** TensorFlow's tasks of its processes, as the profile lists them. */
  tasks?: string[];
  /** The GPUs its ranks take, in their order; null where they take none. */
  gpus: number[] | null;
  /** Folders of NVIDIA's libraries there. */
  nvidia?: string[];
  /** It waits, and its slots are those that it takes in place of a lost node's. */
  spare?: true;
}

/** Which nodes a run takes, how many ranks it has, and how many threads each rank. */
export interface Placement {
  /** The head first, which is there without ranks too, and spare ones last. */
  nodes: PlacedNode[];
  ranks: number;
  threadsPerRank: number;
}

/** What of a request says where its ranks go. */
type Wanted = Pick<RunRequest, 'profile' | 'ranks' | 'nodes' | 'everySlot'> & {
  /** The only hosts that may have ranks; the head is there without, where it is none of them. */
  hosts?: readonly string[] | undefined;
  gpus?: GpuWish | undefined;
  /** The ranks of a node share all the GPUs that were asked for there. Else each takes one. */
  sharesGpus?: boolean;
  /** What a person types to ask for the same once more. */
  words?: readonly string[];
  /** One process on each of the nodes whose slots it takes. */
  perNode?: boolean;
  /** One rank on each node, however many slots it has. */
  oneEach?: boolean;
};

/** A training that takes all there is, as a check of the profile asks for it. */
export const everySlotOf = (profile: Profile): Wanted => ({
  profile,
  ranks: undefined,
  nodes: undefined,
  everySlot: true,
});

/**
 * Fills the nodes in their order, the head first. Training, `bench matmul` and `bench allreduce`
 * take every slot unless told how many, and so does what asks for every slot; anything else is one
 * process on the first node. A head that can have no rank is passed over, and does not count as one
 * of the nodes. Where hosts are named, the nodes are these. UserError (usage, preflight) naming
 * what there is when it does not fit.
 */
export function placeRanks(request: Wanted, device: Device, offers: readonly NodeOffer[]): Placement {
  const { profile, nodes: wantedNodes } = request;
  const bare = bareHead(request, device, offers);
  const taking = (bare ? offers.slice(1) : offers).filter(isWanted(request));
  const most = mostNodes(request, taking.length);
  if (most > taking.length && wantedNodes !== undefined) {
    const beside = bare ? ` beside its head ${bare.host.host}, which takes no rank` : '';
    const what = `${most} nodes were asked for, and profile ${profile.name} has ${taking.length}${beside}`;
    const hint = { kind: 'fewerNodes', profile: profile.name, nodes: taking.length } as const;
    throw new UserError('preflight', what, hint);
  }
  const nodeSlots = taking.slice(0, most).map((offer) => slotsFor(offer, device, request));
  const sum = (count: (node: NodeSlots) => number): number =>
    nodeSlots.reduce((total, node) => total + count(node), 0);
  const all = sum(({ slots }) => slots);
  const ranks = request.ranks ?? (request.everySlot ? sum(({ usual }) => usual) : Math.min(1, all));
  if (ranks > all || ranks === 0) {
    const none = request.hosts
      ? 'none of the hosts that were named has a free GPU'
      : `no node of profile ${profile.name} has a free GPU`;
    const others = all === 0 && request.hosts ? '; other hosts can be named' : '';
    const what = all === 0 ? none : `${ranks} ranks were asked for, and there are slots for ${all}`;
    const hint: Remedy =
      all === 0
        ? { kind: 'useCpu', or: 'otherGpus', profile: profile.name }
        : {
            kind: 'fewerRanks',
            profile: profile.name,
            ranks: all,
            words: request.words ?? [],
            moreSlots: device === 'cpu',
          };
    throw new UserError('preflight', `${what} (${nodeSlots.map(slotsText).join('; ')})${others}`, hint);
  }
  const empty = nodeSlots.find(({ usual }) => usual === 0);
  if (empty && request.hosts && request.everySlot && request.ranks === undefined) {
    const what = `${empty.offer.host.host} was named, and it has no free GPU (${slotsText(empty)})`;
    throw new UserError('preflight', what, { kind: 'useCpu', or: 'otherGpus', profile: profile.name });
  }
  let left = ranks;
  const taken: TakenSlots[] = [];
  for (const node of nodeSlots) {
    const count = Math.min(node.slots, left);
    if (count > 0) taken.push({ node, count });
    left -= count;
  }
  const nodes = taken.map((one) => placedNode(one, request, device));
  if (nodes[0]?.host !== taking[0]?.host.host && !bare) {
    const [head] = nodeSlots;
    if (head && request.hosts) throw namedHeadIsTaken(head, profile);
    const what = `the head, ${offers[0]?.host.host ?? ''}, has no free slot, and a run's first rank is there`;
    throw new UserError('preflight', what, { kind: 'freeHead', profile: profile.name });
  }
  const counted = request.perNode === true ? nodes.length : ranks;
  if (bare) nodes.unshift({ host: bare.host.host, address: bare.address, slots: 0, gpus: null });
  const others = taking.filter((offer) => !taken.some(({ node }) => node.offer === offer));
  const replaceable = bare ? taken : taken.slice(1);
  const spares = replaceable.length === 0 ? [] : takenBySpares(request, device, others, replaceable);
  nodes.push(...spares.map((one): PlacedNode => ({ ...placedNode(one, request, device), spare: true })));
  const threads = [...taken, ...spares].map(({ node, count }) => Math.floor(node.offer.cores / count));
  return { nodes, ranks: counted, threadsPerRank: Math.max(1, Math.min(...threads)) };
}

function slotsFor(offer: NodeOffer, device: Device, { gpus, oneEach }: Wanted): NodeSlots {
  const node = slotsOn(offer, device, gpus);
  return oneEach === true && node.slots > 0 ? { ...node, slots: 1, usual: 1 } : node;
}

/** How many ranks a node takes. */
interface TakenSlots {
  node: NodeSlots;
  count: number;
}

/** The GPUs that the ranks of a node need. */
const gpusNeeded = ({ node, count }: TakenSlots, { sharesGpus }: Wanted): number =>
  sharesGpus === true ? node.slots : count;

function placedNode(taken: TakenSlots, request: Wanted, device: Device): PlacedNode {
  const { node, count } = taken;
  const { offer, gpus } = node;
  const { host, address } = offer;
  const least = gpusNeeded(taken, request);
  if (device === 'cuda' && gpus.length < least) throw tooFewGpus(node, request);
  return {
    host: host.host,
    address,
    ...(request.perNode === true ? { slots: 1, workers: count } : { slots: count }),
    ...(host.tasks === undefined ? {} : { tasks: host.tasks }),
    gpus: device === 'cuda' ? gpus.slice(0, request.gpus === undefined ? count : least) : null,
  };
}

/** How many nodes are to wait as spares. A run on named hosts takes these alone. */
const sparesOf = ({ profile, hosts }: Wanted): number => (hosts ? 0 : (profile.spares ?? 0));

/**
 * The first of `others` that have slots, each with as many as the smallest of the nodes has whose
 * place it may take. UserError (preflight) where fewer nodes have slots than spares are asked for.
 */
function takenBySpares(
  request: Wanted,
  device: Device,
  others: readonly NodeOffer[],
  replaceable: readonly TakenSlots[],
): TakenSlots[] {
  const asked = sparesOf(request);
  const most = Math.min(...replaceable.map(({ count }) => count));
  const wanted = Math.min(asked, others.length);
  if (wanted === 0) return [];
  const able: TakenSlots[] = [];
  const unable: string[] = [];
  for (const offer of others) {
    const { host } = offer.host;
    const missing = request.gpus?.indices?.find((index) => !offer.gpus.some((gpu) => gpu.index === index));
    if (missing !== undefined) {
      unable.push(`${host} has no GPU ${missing}`);
      continue;
    }
    const node = slotsFor(offer, device, request);
    const spare = { node, count: Math.min(node.slots, most) };
    const lacksGpus = device === 'cuda' && node.gpus.length < gpusNeeded(spare, request);
    if (spare.count > 0 && !lacksGpus) able.push(spare);
    else unable.push(slotsText({ ...node, slots: node.gpus.length }));
  }
  if (able.length >= wanted) return able.slice(0, wanted);
  const { name } = request.profile;
  const what = `profile ${name} asks for ${plural(asked, 'spare node')}, and has ${able.length} with a free slot`;
  const hint = { kind: 'fewerSpares', profile: name, spares: able.length } as const;
  throw new UserError('preflight', `${what} (${unable.join('; ')})`, hint);
}

/** Where other hosts were named too. GPUs that others hold can be waited for: see the remedy. */
function namedHeadIsTaken(head: NodeSlots, profile: Profile): UserError {
  const { host } = head.offer.host;
  const what = `the head, ${host}, was named, and it has no free GPU for the first rank (${slotsText(head)})`;
  if (head.busy.length === 0) return new UserError('preflight', what, 'Leave it out of the named hosts');
  const hint = { kind: 'otherGpus', profile: profile.name } as const;
  return new UserError('preflight', `${what}; it can be left out of the named hosts`, hint);
}

/** Whether a node may have ranks by its name. */
const isWanted =
  ({ hosts }: Wanted) =>
  ({ host }: NodeOffer): boolean =>
    hosts?.includes(host.host) ?? true;

/**
 * How many of `there` nodes may have ranks. Those that are named go before the profile, whose
 * spares are left out.
 */
function mostNodes(wanted: Wanted, there: number): number {
  const { profile, nodes, hosts } = wanted;
  const most = hosts?.length ?? nodes;
  return most ?? Math.min(profile.maxNodes ?? there, Math.max(1, there - sparesOf(wanted)));
}

/**
 * The head of several nodes, where it only holds runs: hosts are named and it is none of them, it
 * has no slots by the profile, or ranks are to have GPUs and it has none. A head whose GPUs are
 * taken or in trouble is none, and neither is one that is named.
 */
function bareHead(
  wanted: Wanted,
  device: Device,
  [head, ...others]: readonly NodeOffer[],
): NodeOffer | undefined {
  if (!head || others.length === 0) return undefined;
  if (wanted.hosts) return isWanted(wanted)(head) ? undefined : head;
  const hasNoGpu = device === 'cuda' && head.gpus.length === 0 && !head.trouble;
  return hasNoGpu || !hasRanks(head.host) ? head : undefined;
}

/** With the holder of each that is lacking. */
function tooFewGpus({ offer, busy, gpus }: NodeSlots, { profile, gpus: wish }: Wanted): UserError {
  const words = [...busy, ...(offer.trouble ? [offer.trouble] : [])].join(', ');
  const host = offer.host.host;
  const there = gpus.length + busy.length;
  if (wish?.indices === undefined && wish !== undefined && wish.count > there) {
    const fewer: Remedy = { kind: 'fewerGpus', gpus: there };
    const trouble = offer.trouble ? ` (${offer.trouble})` : '';
    const count = there === 0 ? 'no GPU' : plural(there, 'GPU');
    return new UserError(
      'preflight',
      `${host} has ${count}${trouble}, and ${wish.count} were asked for`,
      fewer,
    );
  }
  const what =
    wish?.indices === undefined
      ? `${host} has ${gpus.length} free of the ${wish?.count ?? 0} GPUs that were asked for`
      : `not all of the GPUs ${wish.indices.join(', ')} of ${host} are free`;
  const hint = { kind: 'otherGpus', profile: profile.name } as const;
  return new UserError('preflight', `${what}${words === '' ? '' : ` (${words})`}`, hint);
}

/**
 * Why not every node that the run takes has GPUs for its ranks, in words that name the node;
 * undefined where each has.
 */
export function noGpusFor(wanted: Wanted, offers: readonly NodeOffer[]): string | undefined {
  const { ranks, everySlot } = wanted;
  const taking = offers.filter(isWanted(wanted)).filter(({ host }) => hasRanks(host));
  const nodeSlots = taking.slice(0, mostNodes(wanted, taking.length)).map((offer) => slotsOn(offer, 'cuda'));
  const most = ranks ?? (everySlot ? Infinity : 1);
  let found = 0;
  for (const { offer, slots, busy } of nodeSlots) {
    if (found >= most) break;
    if (slots === 0) {
      const words = [...busy, ...(offer.trouble ? [offer.trouble] : [])];
      const free = busy.length === 0 ? '' : 'free ';
      return `no ${free}GPU on ${offer.host.host}${words.length === 0 ? '' : `: ${words.join(', ')}`}`;
    }
    found += slots;
  }
  if (ranks === undefined || found >= ranks) return undefined;
  return `${ranks} ranks were asked for, and ${found} GPUs are free (${nodeSlots.map(slotsText).join('; ')})`;
}

interface NodeSlots {
  offer: NodeOffer;
  /** How many ranks fit. */
  slots: number;
  /** How many training takes unless told how many. */
  usual: number;
  gpus: number[];
  busy: string[];
}

/**
 * The slots of a node. On GPUs its free ones, of those that the profile lists; never more than the
 * profile's `slots`. On the CPU the profile's `slots`. Where the profile has none: on a node of a
 * cluster one for each GPU, and one at least; on this machine one for each core, of which training
 * takes two, for others want the cores too. Where GPUs were asked for, their number, whether they
 * are free or not. UserError (usage) for one that is not there.
 */
export function slotsOn(offer: NodeOffer, device: Device, wish?: GpuWish): NodeSlots {
  const { host, cores } = offer;
  const listed = wishedFrom(wish, host, offer.gpus);
  if (device === 'cpu') {
    const none = { offer, gpus: [], busy: [] };
    if (host.slots !== undefined) return { ...none, slots: host.slots, usual: host.slots };
    if (offer.isHere === true) return { ...none, slots: cores, usual: Math.min(2, cores) };
    const slots = Math.max(1, listed.length);
    return { ...none, slots, usual: slots };
  }
  const gpus: number[] = [];
  const busy: string[] = [];
  for (const index of listed) {
    const gpu = offer.gpus.find((each) => each.index === index);
    if (!gpu) busy.push(`GPU ${index} is not there`);
    else if (gpu.busy !== undefined) busy.push(`GPU ${index} is taken by ${gpu.busy}`);
    else gpus.push(index);
  }
  if (wish !== undefined) return { offer, slots: wish.count, usual: wish.count, gpus, busy };
  const slots = Math.min(gpus.length, host.slots ?? gpus.length);
  return { offer, slots, usual: slots, gpus, busy };
}

function slotsText({ offer, slots, busy }: NodeSlots): string {
  const words = offer.trouble ? [...busy, offer.trouble] : busy;
  const what = words.length === 0 ? '' : `, ${words.join(', ')}`;
  return `${offer.host.host} has ${slots}${what}`;
}

/**
 * Gives each node's ranks the folders of NVIDIA's libraries on that node. `folders` has them by the
 * node's host.
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
