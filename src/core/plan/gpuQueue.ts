// The queue for GPUs: which GPUs are kept for whom, and what a start says while it waits. The order
// is one for all nodes, so no two starts wait for each other.
import type { WaitingStart } from '../contracts/metricsSchema.js';
import type { PlacedRun } from './device.js';
import { wishedFrom } from './request/gpuWish.js';
import type { NodeOffer, OfferedGpu, Placement } from './placement.js';
import type { RunRequest } from './request/request.js';

/** What a start waits for on one node. */
export interface GpuDemand {
  host: string;
  /** Those that count, in the order in which it takes them. */
  gpus: number[];
  /** How many of them. */
  count: number;
}

/** A start's place in every queue: of equal numbers the ticket decides. */
export type QueuePlace = Pick<WaitingStart, 'ticket' | 'number'>;

const comesBefore = (one: QueuePlace, other: QueuePlace): boolean =>
  one.number === other.number ? one.ticket < other.ticket : one.number < other.number;

/** The starts that go first; all of them for a start that does not wait. */
export function aheadOf(waiting: readonly WaitingStart[], me: QueuePlace | undefined): WaitingStart[] {
  const others = waiting.filter(({ ticket }) => ticket !== me?.ticket);
  return me === undefined ? others : others.filter((other) => comesBefore(other, me));
}

/**
 * The node as a start at this place sees it: free GPUs that those ahead of it wait for are taken.
 * What they do not want is left to it, also where they wait for another node.
 */
export function offerInTurn(offer: NodeOffer, me: QueuePlace | undefined): NodeOffer {
  const kept = new Map<number, string>();
  const isFree = ({ index, busy }: OfferedGpu): boolean => busy === undefined && !kept.has(index);
  for (const start of aheadOf(offer.waiting ?? [], me)) {
    const left = start.gpus.filter((index) => offer.gpus.some((gpu) => gpu.index === index && isFree(gpu)));
    for (const index of left.slice(0, start.count)) kept.set(index, start.by);
  }
  if (kept.size === 0) return offer;
  const gpus = offer.gpus.map((gpu) => {
    const by = kept.get(gpu.index);
    return by === undefined
      ? gpu
      : { ...gpu, busy: `a start that waits in the queue${by === '' ? '' : ` (${by})`}` };
  });
  return { ...offer, gpus };
}

/** The node as it would be if nobody held a GPU. */
export const offerAsIfFree = (offer: NodeOffer): NodeOffer => ({
  ...offer,
  gpus: offer.gpus.map((gpu) => ({ ...gpu, busy: undefined })),
});

/** Whether a placement takes GPUs. */
export const takesGpus = ({ nodes }: Placement): boolean => nodes.some(({ gpus }) => gpus !== null);

/**
 * What is enough on each node, by the placement of a cluster whose GPUs are all free. A start that
 * says no number takes what is free in its turn, and one GPU on each node is enough.
 */
export function demandsOf(request: RunRequest, ideal: Placement, offers: readonly NodeOffer[]): GpuDemand[] {
  const takesWhatIsThere = request.everySlot && request.ranks === undefined && request.gpus === undefined;
  return ideal.nodes.flatMap(({ host, gpus }) => {
    const offer = offers.find((each) => each.host.host === host);
    if (gpus === null || offer === undefined) return [];
    const listed = wishedFrom(request.gpus, offer.host, offer.gpus);
    const there = listed.filter((index) => offer.gpus.some((gpu) => gpu.index === index));
    return [{ host, gpus: there, count: takesWhatIsThere ? 1 : gpus.length }];
  });
}

/** Whether a placement that was found in turn is what the start waits for. */
export function isEnough(request: RunRequest, { placement }: PlacedRun, ideal: Placement): boolean {
  if (!takesGpus(placement)) return false;
  return request.ranks !== undefined || placement.nodes.length >= ideal.nodes.length;
}

/**
 * `waiting for 4 GPUs on gpu1: 2nd in the queue, behind ada@laptop; held by run R (process 7)`. Of
 * nodes that have enough nothing is said. `offers` are as the nodes told them.
 */
export function waitingText(
  demands: readonly GpuDemand[],
  offers: readonly NodeOffer[],
  me: QueuePlace,
): string {
  const parts = demands.flatMap((demand) => {
    const offer = offers.find(({ host }) => host.host === demand.host);
    if (offer === undefined) return [];
    const ours = (one: NodeOffer): OfferedGpu[] =>
      one.gpus.filter(({ index }) => demand.gpus.includes(index));
    const free = (one: NodeOffer): number => ours(one).filter(({ busy }) => busy === undefined).length;
    if (free(offerInTurn(offer, me)) >= demand.count) return [];
    const ahead = aheadOf(offer.waiting ?? [], me);
    const names = listed(ahead.map(({ by }) => by));
    const holders = free(offer) >= demand.count ? '' : listed(ours(offer).map(({ busy }) => busy ?? ''));
    const starts = new Set(ahead.map(({ ticket }) => ticket)).size;
    return [
      `for ${gpusText(demand)} on ${demand.host}: ${ordinal(starts + 1)} in the queue` +
        (names === '' ? '' : `, behind ${names}`) +
        (holders === '' ? '' : `; held by ${holders}`),
    ];
  });
  return parts.length === 0 ? 'taking the GPUs' : `waiting ${parts.join('; and ')}`;
}

function gpusText({ gpus, count }: GpuDemand): string {
  if (count < gpus.length) return count === 1 ? 'a GPU' : `${count} GPUs`;
  return `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(', ')}`;
}

/** Names that a text has. */
const mostNames = 2;

function listed(names: readonly string[]): string {
  const different = [...new Set(names)].filter((name) => name !== '');
  const more = different.length - mostNames;
  return `${different.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `1st`, `2nd`. */
export function ordinal(number: number): string {
  const isTeen = number % 100 > 10 && number % 100 < 14;
  const ending = isTeen ? undefined : ['th', 'st', 'nd', 'rd'][number % 10];
  return `${number}${ending ?? 'th'}`;
}
