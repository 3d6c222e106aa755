// Which GPUs a start gets: it chooses free ones and takes their locks, at once or in its turn.
// See docs/contracts/gpus.md.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentNode } from '../../agent/agentNode.js';
import { remedyOf, throwIfCancelled, UserError } from '../../base/errors.js';
import type { Progress } from '../../base/progress.js';
import type { PlacedRun } from '../../plan/device.js';
import {
  demandsOf,
  isEnough,
  offerAsIfFree,
  offerInTurn,
  takesGpus,
  waitingText,
  type GpuDemand,
  type QueuePlace,
} from '../../plan/gpuQueue.js';
import type { NodeOffer, Placement } from '../../plan/placement.js';
import type { RunRequest } from '../../plan/request/request.js';
import { GpuLocks, GpuTaken, takeGpus } from './gpuLocks.js';
import { GpuTickets } from './gpuTickets.js';

/** A machine as a start looks at it. */
export interface StartPlaces {
  /** What its nodes have now. */
  offers: () => Promise<NodeOffer[]>;
  /** Where the run goes on these offers. UserError where it does not fit. */
  place: (request: RunRequest, offers: readonly NodeOffer[]) => Promise<PlacedRun>;
  nodeOf: (host: string) => AgentNode;
}

/** A run that has its nodes, and holds its GPUs, or is to wait for them. */
export interface TakenRun {
  placed: PlacedRun;
  locks: GpuLocks;
  /** What it waits for by itself. It holds nothing yet. */
  queued?: readonly GpuDemand[] | undefined;
}

/** Times that GPUs are chosen before a start that does not wait gives up. */
const mostChoices = 5;
/** Milliseconds between two looks at the queue. */
const lookInterval = 2_000;
/** Looks in a row that may fail because a connection is lost. */
const mostLost = 15;

/**
 * Places the run and takes the locks of its GPUs. A request that waits queues for them, here or
 * (detached) by itself; any other is refused where too few are free, or kept for those who wait.
 * UserError (preflight) naming the holders, AgentError, Cancelled, and what `places` throws.
 */
export async function placeAndTake(
  request: RunRequest,
  places: StartPlaces,
  progress: Progress,
): Promise<TakenRun> {
  if (request.wait) {
    const offers = await places.offers();
    const ideal = await places.place(request, offers.map(offerAsIfFree));
    if (takesGpus(ideal.placement) && request.detached) {
      const now = await placeInTurn(request, places, {
        found: offers,
        me: undefined,
        ideal: ideal.placement,
      });
      const isWhole = now && now.placement.ranks >= ideal.placement.ranks;
      return waitByItself(isWhole ? now : ideal, request, offers);
    }
    if (takesGpus(ideal.placement)) return waitAndTake(request, places, { ideal, offers }, progress);
  }
  return takeAtOnce(request, places);
}

/** Where another start was quicker, GPUs are chosen once more, unless they were named. */
async function takeAtOnce(request: RunRequest, places: StartPlaces): Promise<TakenRun> {
  const { profile, gpus, runDir } = request;
  for (let choice = 1; ; choice += 1) {
    const found = await places.offers();
    const offers = found.map((offer) => offerInTurn(offer, undefined));
    const placed = await places.place(request, offers).catch(async (error: unknown) => {
      throw await withWait(error, request, places, found);
    });
    try {
      return { placed, locks: await takeGpus({ ...placed, offers }, places.nodeOf, runDir) };
    } catch (error) {
      if (!(error instanceof GpuTaken)) throw error;
      if (gpus?.indices !== undefined || choice === mostChoices) {
        const or = { kind: 'otherGpus', profile: profile.name } as const;
        throw new UserError('preflight', error.message, { kind: 'waitForGpus', or }, { cause: error });
      }
      await delay(50 + Math.random() * 200); // or the same two starts would meet again
    }
  }
}

/** The error, which says that the GPUs can be waited for where that would help. */
async function withWait(
  error: unknown,
  request: RunRequest,
  places: StartPlaces,
  offers: readonly NodeOffer[],
): Promise<unknown> {
  const or = remedyOf(error);
  if (!(error instanceof UserError) || error.code !== 'preflight' || or === undefined) return error;
  if (or.kind === 'useCpu' && or.or !== 'otherGpus') return error; // it is not about who holds them
  try {
    const { placement } = await places.place(request, offers.map(offerAsIfFree));
    if (!takesGpus(placement)) return error;
  } catch {
    return error; // it would not fit either if all were free
  }
  return new UserError('preflight', error.what, { kind: 'waitForGpus', or }, { cause: error });
}

/** On these nodes, for as many GPUs as it takes there. */
function waitByItself(placed: PlacedRun, request: RunRequest, offers: readonly NodeOffer[]): TakenRun {
  const queued = demandsOf({ ...request, everySlot: false }, placed.placement, offers);
  return { placed, locks: new GpuLocks(), queued };
}

/** Queues on each node of `ideal`, a placement on free GPUs, and takes them in its turn. */
async function waitAndTake(
  request: RunRequest,
  places: StartPlaces,
  { ideal, offers }: { ideal: PlacedRun; offers: readonly NodeOffer[] },
  progress: Progress,
): Promise<TakenRun> {
  const demands = demandsOf(request, ideal.placement, offers);
  const tickets = new GpuTickets(demands, places.nodeOf);
  const onGpus: RunRequest = { ...request, device: 'cuda' };
  const asked = ideal.choice;
  const choice = asked?.asked === 'auto' ? { ...asked, why: 'the start waited for free GPUs' } : asked;
  let said = '';
  const say = (text: string): void => {
    if (text !== said) progress.onProgress?.(text);
    said = text;
  };
  const look = async (): Promise<TakenRun | undefined> => {
    const me = await tickets.enter();
    const found = await places.offers();
    const placed = await placeInTurn(onGpus, places, { found, me, ideal: ideal.placement });
    const text = waitingText(demands, found, me);
    if (placed === undefined) {
      say(text);
      return undefined;
    }
    try {
      const locks = await takeGpus({ ...placed, offers: found }, places.nodeOf, request.runDir);
      return { placed: { ...placed, choice }, locks };
    } catch (error) {
      if (!(error instanceof GpuTaken)) throw error;
      say(text);
      return undefined;
    }
  };
  try {
    for (let lost = 0; ;) {
      throwIfCancelled(progress.signal);
      try {
        const taken = await look();
        if (taken) return taken;
        lost = 0;
      } catch (error) {
        lost += 1;
        if (!isLost(error) || lost > mostLost) throw error;
        say('the connection was lost; trying again, and then at the same place of the queue');
      }
      await pause(progress.signal);
    }
  } finally {
    await tickets.leave();
  }
}

/** Undefined where too few GPUs are free for a start at this place. */
async function placeInTurn(
  request: RunRequest,
  places: StartPlaces,
  { found, me, ideal }: { found: readonly NodeOffer[]; me: QueuePlace | undefined; ideal: Placement },
): Promise<PlacedRun | undefined> {
  try {
    const placed = await places.place(
      request,
      found.map((offer) => offerInTurn(offer, me)),
    );
    return isEnough(request, placed, ideal) ? placed : undefined;
  } catch (error) {
    if (error instanceof UserError && error.code === 'preflight') return undefined; // it fits on free ones
    throw error;
  }
}

/** Whether the next look may find the connection again without anybody being asked. */
const isLost = (error: unknown): boolean =>
  error instanceof UserError && error.code === 'connection' && remedyOf(error)?.kind !== 'askAgain';

async function pause(signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(lookInterval, undefined, signal ? { signal } : {});
  } catch (error) {
    throwIfCancelled(signal);
    throw error;
  }
}
