// How a run stands that Slurm has: what the agent on the login node says of its folder, together
// with what Slurm says of its job. The agent knows nothing of Slurm.
import type { NodePath } from '../base/nodePath.js';
import type { QueueStand, RunEntry } from '../contracts/agentApi.js';
import type { SlurmEnd } from '../contracts/slurmSchema.js';
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
function waitingStand(job: QueuedJob, ahead: number | undefined, before: SlurmEnd | undefined): QueueStand {
  const place = ahead === undefined ? undefined : ahead + 1;
  const parts = [
    ...(before === undefined ? [] : [`again, since ${endedWords(before)}`]),
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

function runningStand(job: QueuedJob, staging: string | undefined): QueueStand {
  const left = job.secondsLeft;
  const parts = [
    `job ${job.id}`,
    ...(job.nodes === '' ? [] : [`on ${job.nodes}`]),
    ...(left === undefined ? [] : [`${lengthText(left)} left`]),
    ...(staging === undefined ? [] : [`staging: ${staging}`]),
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

function endedStand(id: string, job: SlurmEnd | undefined): QueueStand {
  const text = job
    ? `Slurm's job ${id} is over: ${endedWords(job)} (${job.state})`
    : `Slurm no longer knows job ${id}`;
  const none = { reason: null, place: null, start: null, secondsLeft: null };
  return { job: id, kind: 'ended', state: job?.state ?? unknownState, ...none, text };
}

/** In place of Slurm's word, where Slurm has forgotten the job. */
const unknownState = 'UNKNOWN';
const unknownEnd: SlurmEnd = { state: unknownState, exitCode: 0, signal: 0 };
/** Of a job that ended as its run did: these say nothing that the run's state does not say. */
const plainStates = new Set(['COMPLETED', 'FAILED', unknownState]);
/** After these Slurm does not start a job again, though it was asked to. */
const lastStates = new Set(['CANCELLED', 'DEADLINE', 'FAILED', 'OUT_OF_MEMORY', 'TIMEOUT']);

type KnownRun = Pick<RunEntry, 'run' | 'state'>;
const isOver = ({ state }: KnownRun): boolean => state !== null && finalPhases.has(state.phase);
/** Whether Slurm has the job, or is about to have it again. */
const goesOn = ({ run }: KnownRun): boolean => run?.slurm?.goesOn === true;
/** Whether the job was over before it began again: the state is that of the start before. */
const endedWaiting = ({ run }: KnownRun): boolean => run?.slurm?.goesOn === false;
/** Whether nobody needs to ask about the job any more. */
const isSettled = (entry: KnownRun): boolean =>
  !goesOn(entry) && (entry.state?.phase === 'finished' || entry.run?.slurm?.ended !== undefined);

/** The jobs of these runs of which something is to be asked. */
export function jobsToAsk(entries: readonly KnownRun[]): string[] {
  return entries.flatMap((entry) => {
    const job = entry.run?.slurm?.job;
    return job === undefined || isSettled(entry) ? [] : [job];
  });
}

/** How a job ended, for the record of its run. */
export interface KeptEnd {
  dir: NodePath;
  job: string;
  ended: SlurmEnd;
}

/**
 * What this look tells of jobs that are over, so that it need not be asked again once Slurm has
 * forgotten them.
 */
export function endsToKeep(entries: readonly RunEntry[], look: QueueLook): KeptEnd[] {
  return entries.flatMap((entry) => {
    const { job, ended } = entry.run?.slurm ?? {};
    if (job === undefined || isSettled(entry) || look.queued.has(job)) return [];
    if (!isOver(entry) && !entry.interrupted) return [];
    const found = look.ended.get(job);
    if (!found && !isOver(entry)) return []; // its nodes may be heard of again
    if (found && goesOn(entry) && !lastStates.has(found.state)) return [];
    if (!found) return [{ dir: entry.dir, job, ended: ended ?? unknownEnd }];
    const { state, exitCode, signal } = found;
    return [{ dir: entry.dir, job, ended: { state, exitCode, signal } }];
  });
}

/** A run that is over, or that nobody supervises, with what is known of its job's end. */
function withEnd<E extends RunEntry>(entry: E, job: string, look: QueueLook): E {
  const end = entry.run?.slurm?.ended ?? look.ended.get(job);
  if (!isOver(entry) || endedWaiting(entry)) return { ...entry, queue: endedStand(job, end) };
  if (!end || goesOn(entry) || plainStates.has(end.state)) return entry;
  const { phase, reason } = entry.state ?? {};
  // Whoever stopped it took its job out of the queue, too.
  const says = phase === 'finished' || (phase === 'stopped' && typeof reason === 'string');
  return says ? entry : { ...entry, queue: endedStand(job, end) };
}

/**
 * The entry with its stand in the queue. A run that waits for nodes is not interrupted, though
 * nobody supervises it; nor is one that has nodes, however old its state is where this node sees it.
 */
export function withStand<E extends RunEntry>(entry: E, look: QueueLook): E {
  const slurm = entry.run?.slurm;
  if (slurm?.job === undefined) return entry;
  const over = isOver(entry);
  const job = look.queued.get(slurm.job);
  // Who supervises it knows more than a look of some seconds ago.
  const lives = entry.state !== null && !over && !entry.interrupted;
  if (isSettled(entry)) return lives ? entry : withEnd(entry, slurm.job, look);
  if (over && !goesOn(entry)) return job ? entry : withEnd(entry, slurm.job, look);
  if (!job) return { ...entry, queue: endedStand(slurm.job, look.ended.get(slurm.job) ?? slurm.ended) };
  if (waitingStates.has(job.state) && lives) return entry;
  if (waitingStates.has(job.state)) {
    const queue = waitingStand(job, look.ahead.get(job.id), slurm.ended);
    return { ...entry, queue, interrupted: false, elsewhere: null };
  }
  // What an earlier start left says nothing of the one that begins.
  const state = over ? null : entry.state;
  return { ...entry, state, queue: runningStand(job, slurm.staging), interrupted: false };
}
