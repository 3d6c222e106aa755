// How a run stands, in one word. Apart from the rest, because what only shows runs needs no more
// than this.
import type { RunEntry } from '../contracts/agentApi.js';
import type { Phase } from '../contracts/runSchema.js';

/**
 * A run's phase; `interrupted`: its supervisor is gone without having said how it ended; `queued`:
 * Slurm has no nodes for it yet, or it waits for its GPUs.
 */
export type RunStatus = Phase | 'interrupted' | 'unknown';

const statuses: Record<RunStatus, true> = {
  queued: true,
  starting: true,
  running: true,
  evaluating: true,
  stopping: true,
  finished: true,
  stopped: true,
  failed: true,
  interrupted: true,
  unknown: true,
};

/** Every status, in the order in which a run has them. */
export const statusWords = Object.keys(statuses) as readonly RunStatus[];

/** Whether a word is a status, as one that was kept must be. */
export const isStatus = (word: string): word is RunStatus => Object.hasOwn(statuses, word);

/** The status of a run from its entry; `unknown` where its state.json could not be understood. */
export function statusOf(entry: Pick<RunEntry, 'state' | 'interrupted' | 'queue'>): RunStatus {
  if (entry.queue?.kind === 'waiting') return 'queued';
  if (entry.queue?.kind === 'running' && entry.state === null) return 'starting';
  if (entry.interrupted) return 'interrupted';
  return entry.state?.phase ?? 'unknown';
}

/** Whether it has not begun yet: what an earlier start left says nothing of it. */
export function isBeforeStart(entry: Pick<RunEntry, 'state' | 'interrupted' | 'queue'>): boolean {
  const status = statusOf(entry);
  return status === 'queued' || status === 'starting';
}

/**
 * Why the run ended as it did, as far as its supervisor says it, and Slurm of its job; null where
 * neither does.
 */
export function reasonOf({ state, queue }: Pick<RunEntry, 'state' | 'queue'>): string | null {
  const said = state?.reason ?? null;
  const ofJob = queue?.kind === 'ended' ? queue.text : null;
  return said === null || ofJob === null ? (said ?? ofJob) : `${said}. ${ofJob}`;
}

/** What a run in a queue waits for, in words; undefined where it waits for nothing. */
export function waitingText({ state, queue }: Pick<RunEntry, 'state' | 'queue'>): string | undefined {
  return queue?.kind === 'waiting' ? queue.text : state?.waiting;
}

/** For people: `running on gpu1` where another host supervises it. */
export function statusText(status: RunStatus, { elsewhere }: Pick<RunEntry, 'elsewhere'>): string {
  return typeof elsewhere === 'string' ? `${status} on ${elsewhere}` : status;
}

/**
 * Whether the run is over since it was started. `staleState`: `updated` of the state that an
 * earlier start left in the folder. That state says nothing of this start, unless Slurm's job ended
 * without another one.
 */
export function isEnd(
  details: Pick<RunEntry, 'state' | 'interrupted' | 'queue'>,
  staleState: number | undefined,
): boolean {
  const isStale = details.state !== null && details.state.updated === staleState;
  return isOver(statusOf(details)) && (!isStale || details.queue?.kind === 'ended');
}

/** Whether nothing of the run is to come any more. */
export function isOver(status: RunStatus): boolean {
  return status === 'finished' || status === 'stopped' || status === 'failed' || status === 'interrupted';
}

/** Whether more of the run is to come, as far as its state could be understood. */
export const isUnderWay = (status: RunStatus): boolean => !isOver(status) && status !== 'unknown';
