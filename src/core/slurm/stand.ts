// How a run stands that Slurm has: what the agent on the login node says of its folder, together
// with what Slurm says of its job. The agent knows nothing of Slurm.
import type { QueueStand, RunEntry } from '../contracts/agentApi.js';
import type { EndedJob, QueuedJob } from './queue.js';
import { endedWords, waitingWords } from './words.js';

/** What Slurm was heard to say. */
export interface QueueLook {
  /** Jobs that wait, run or end, by their ids. */
  queued: ReadonlyMap<string, QueuedJob>;
  /** Of a job that waits, how many of its partition come before it. */
  ahead: ReadonlyMap<string, number>;
  /** Jobs that are over, by their ids. */
  ended: ReadonlyMap<string, EndedJob>;
}

/** States of a job that has no nodes yet, or no longer has them. */
const waitingStates = new Set([
  'PENDING',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'SPECIAL_EXIT',
  'RESV_DEL_HOLD',
]);
const finalPhases = new Set(['finished', 'stopped', 'failed']);

const clock = (seconds: number): string => {
  const at = new Date(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
};

/** `45 s`, `10 min`, `8.0 h` or `2.5 days`. */
export function lengthText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} days`;
}

/** The job as a person reads of it. */
function waitingStand(job: QueuedJob, ahead: number | undefined): QueueStand {
  const place = ahead === undefined ? undefined : ahead + 1;
  const parts = [
    ...(place === undefined ? [] : [`place ${place} in ${job.partition}`]),
    waitingWords(job.reason),
    ...(job.start === undefined ? [] : [`Slurm expects a start at ${clock(job.start)}`]),
  ];
  return {
    job: job.id,
    kind: 'waiting',
    state: job.state,
    reason: job.reason === '' ? null : job.reason,
    place: place ?? null,
    start: job.start ?? null,
    secondsLeft: null,
    text: parts.join('; '),
  };
}

function runningStand(job: QueuedJob): QueueStand {
  const left = job.secondsLeft;
  const parts = [
    `job ${job.id}`,
    ...(job.nodes === '' ? [] : [`on ${job.nodes}`]),
    ...(left === undefined ? [] : [`${lengthText(left)} left`]),
  ];
  return {
    job: job.id,
    kind: 'running',
    state: job.state,
    reason: null,
    place: null,
    start: job.start ?? null,
    secondsLeft: left ?? null,
    text: parts.join(', '),
  };
}

function endedStand(id: string, job: EndedJob | undefined): QueueStand {
  const text = job
    ? `Slurm's job ${id} is over: ${endedWords(job)} (${job.state})`
    : `Slurm no longer knows job ${id}`;
  const none = { reason: null, place: null, start: null, secondsLeft: null };
  return { job: id, kind: 'ended', state: job?.state ?? 'UNKNOWN', ...none, text };
}

/** The jobs of these runs of which something is to be asked: those that are not over. */
export function jobsToAsk(entries: readonly RunEntry[]): string[] {
  return entries.flatMap(({ run, state }) => {
    const slurm = run?.slurm;
    if (slurm?.job === undefined) return [];
    const over = state !== null && finalPhases.has(state.phase);
    return over && slurm.goesOn !== true ? [] : [slurm.job];
  });
}

/**
 * The entry with its stand in the queue. A run that waits for nodes is not interrupted, though
 * nobody supervises it; nor is one that has nodes, however old its state is where this node sees it.
 */
export function withStand<E extends RunEntry>(entry: E, look: QueueLook): E {
  const slurm = entry.run?.slurm;
  if (slurm?.job === undefined) return entry;
  const over = entry.state !== null && finalPhases.has(entry.state.phase);
  if (over && slurm.goesOn !== true) return entry;
  // Who supervises it knows more than a look of some seconds ago.
  const lives = entry.state !== null && !over && !entry.interrupted;
  const job = look.queued.get(slurm.job);
  if (!job) return { ...entry, queue: endedStand(slurm.job, look.ended.get(slurm.job)) };
  if (waitingStates.has(job.state) && lives) return entry;
  if (waitingStates.has(job.state)) {
    const queue = waitingStand(job, look.ahead.get(job.id));
    return { ...entry, queue, interrupted: false, elsewhere: null };
  }
  // What an earlier start left says nothing of the one that begins.
  const state = over ? null : entry.state;
  return { ...entry, state, queue: runningStand(job), interrupted: false };
}
