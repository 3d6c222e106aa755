// What the journal says, as marks on a time axis and as lines of a log.
import { hostsText, ranksText } from './hosts/rankText.js';
import { durationText } from '../base/duration.js';
import { sizeText } from '../base/sizeText.js';
import type { RunEvent } from '../contracts/runSchema.js';
import { moneyText } from '../cost/runCost.js';

type MarkKind =
  | 'start'
  | 'restart'
  | 'resume'
  | 'checkpoint'
  | 'checkpoint-failed'
  | 'rank-lost'
  | 'hang'
  | 'stop'
  | 'disk'
  | 'end';

/** One event on the time axis of a chart. */
export interface Mark {
  /** Seconds since the epoch. */
  time: number;
  /** The last step before it, or the step of a checkpoint; null where the event names none. */
  step: number | null;
  kind: MarkKind;
  text: string;
}

/** Linux's signals that end programs. */
const signalNames: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
};

/** How a process ended: `was killed by signal 9 (SIGKILL)`, `ended with exit code 1`. */
function ending(event: { exit_code: number | null; signal?: number | null }): string {
  if (event.signal !== null && event.signal !== undefined) {
    const name = signalNames[event.signal];
    return `was killed by signal ${event.signal}${name === undefined ? '' : ` (${name})`}`;
  }
  return event.exit_code === null ? 'ended, nobody knows how' : `ended with exit code ${event.exit_code}`;
}

function waitText({
  seconds,
  fewer_after,
}: {
  seconds?: number | undefined;
  fewer_after?: number | null | undefined;
}): string {
  if (seconds === undefined) return '';
  const fewer = typeof fewer_after === 'number' ? `, from ${fewer_after} s on fewer nodes will do` : '';
  return `, ${seconds} s at most${fewer}`;
}

/** The events of one kind. */
export type EventOf<K extends RunEvent['kind']> = Extract<RunEvent, { kind: K }>;
type Doing = EventOf<'stalled'>['doing'];

/** Of so many ranks one line says what they do; the journal has more. */
const mostTold = 3;

/** `; rank 1 on gpu2 is stopped by a signal`, for each rank of which that is known. */
function doingText(doing: Doing = []): string {
  const told = doing.slice(0, mostTold).map(({ rank, host, what }) => `; rank ${rank} on ${host} ${what}`);
  return told.join('');
}

/** An own program has output in place of steps and heartbeats. */
const silentText = ({ ranks, doing }: EventOf<'hang'>): string =>
  `no output, silent longest: ${ranksText(ranks)}${doingText(doing)}`;

const sinceText = ({ last_step }: EventOf<'hang'>): string =>
  last_step === null || last_step === 0 ? '' : ` since step ${last_step}`;

function waitingText({ waiting_for, doing }: EventOf<'stalled'>): string {
  const [only, ...others] = waiting_for;
  if (!only) return doingText(doing);
  const ranks = waiting_for.map(({ rank, host }) => `rank ${rank} on ${host}`).join(', ');
  const what = doing?.find(({ rank }) => rank === only.rank)?.what;
  if (others.length > 0 || what === undefined) return `, waiting for ${ranks}${doingText(doing)}`;
  return `, waiting for ${ranks}, which ${what}`;
}

function replacedText({ hosts, by }: { hosts: readonly string[]; by: readonly string[] }): string {
  if (hosts.length === 0) return `ranks are on ${hostsText(by)} too`;
  const takes = by.length === 1 ? 'takes' : 'take';
  if (hosts.length === by.length) return `${hostsText(by)} ${takes} the place of ${hostsText(hosts)}`;
  return `ranks are on ${hostsText(by)}, and no more on ${hostsText(hosts)}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function copiedText({ files, bytes, seconds }: EventOf<'shared'>): string {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : sizeText(bytes);
  return `${files} ${files === 1 ? 'file' : 'files'}, ${size} in ${durationText(seconds)}`;
}

const spentText = ({ cost, amount, currency }: { cost: number; amount: number; currency: string }): string =>
  `${moneyText(cost, currency)} of ${moneyText(amount, currency)}`;

/** What a gap in a file of lines means, for people. */
export function gapText(gap: { lines: number; from: number; to: number }, file: string): string {
  const lines = gap.lines === 1 ? 'one line' : `${gap.lines} lines`;
  return `${lines} of ${file}, over ${(gap.to - gap.from).toFixed(0)} s, could not be written: the disk took nothing`;
}

/** One line on an event, for people. `isByHand`: of a start for which somebody asked. */
export function eventText(event: RunEvent, isByHand = false): string {
  switch (event.kind) {
    case 'created':
      return `created ${event.id}`;
    case 'started':
      return `${isByHand ? 'resumed' : event.generation > 1 ? 'started again' : 'started'} with ${event.world} ${event.world === 1 ? 'rank' : 'ranks'}`;
    case 'rank_started':
      return `rank ${event.rank} started on ${event.host}, pid ${event.pid}`;
    case 'debugger_waiting':
      return `rank ${event.rank} on ${event.host} waits until a debugger attaches`;
    case 'rank_exited':
      return `rank ${event.rank} on ${event.host} ${ending(event)}${event.last_step === null || event.last_step === 0 ? '' : `, last step ${event.last_step}`}${event.exception ? `: ${event.exception}` : ''}`;
    case 'node_joined':
      return `${event.host} joined${event.shared === true ? ', sharing the run folder' : ''}`;
    case 'node_lost':
      return `${event.host} was lost: ${event.reason}`;
    case 'waiting_for_nodes':
      return `waiting for ${hostsText(event.hosts)}${waitText(event)}`;
    case 'nodes_replaced':
      return replacedText(event);
    case 'mirrored':
      return `${event.host} has a copy of ${event.checkpoint}`;
    case 'mirror_failed':
      return `${event.host} cannot copy the run folder: ${event.reason}`;
    case 'head_changed':
      return `${event.to} is the head in place of ${event.from}`;
    case 'sharing':
      return `copies ${event.folder} to ${hostsText(event.hosts)}`;
    case 'shared':
      return `copied ${event.folder} to ${hostsText(event.hosts)}: ${copiedText(event)}`;
    case 'restarting':
      return `restarting${typeof event.checkpoint === 'string' ? ` from ${event.checkpoint}` : ''}, ${event.restarts_left} more ${event.restarts_left === 1 ? 'restart' : 'restarts'} allowed${event.reason === null ? '' : `: ${event.reason}`}`;
    case 'stalled':
      return `no ${event.silent === true ? 'output' : 'step'} for ${Math.floor(event.seconds)} s${waitingText(event)}`;
    case 'notify_failed':
      return `a message (${event.of}) was not sent: ${event.reason}`;
    case 'moving':
      return `output came again after ${Math.floor(event.seconds)} s`;
    case 'hang':
      if (event.silent === true) return silentText(event);
      return `no heartbeat from ${ranksText(event.ranks)}${sinceText(event)}${doingText(event.doing)}`;
    case 'stop_requested':
      return `stop ${event.mode === 'now' ? 'now' : 'after a checkpoint'}, asked by ${event.by}`;
    case 'checkpoint':
      return `checkpoint at step ${event.step}, ${megabytes(event.bytes)}`;
    case 'checkpoint_passed_over':
      return `the checkpoint of step ${event.step} was passed over: ${event.reason}`;
    case 'checkpoint_failed':
      return `checkpoint at step ${event.step} failed: ${event.message}`;
    case 'evaluator_started':
      return `evaluator started, pid ${event.pid}`;
    case 'evaluator_exited':
      return `the evaluator ${ending(event)}`;
    case 'tensorboard_started':
      return `TensorBoard started, pid ${event.pid}`;
    case 'tensorboard_exited':
      return `TensorBoard ${ending(event)}`;
    case 'disk_low':
      return `disk is low: ${megabytes(event.free_bytes)} free`;
    case 'budget_low':
      return `budget: ${spentText(event)} are spent${event.stops ? ', and the run stops at its end' : ''}`;
    case 'budget_spent':
      return `budget: ${spentText(event)} are spent${event.stops ? '' : ', and the run goes on'}`;
    case 'gap':
      return gapText(event, 'the journal');
    case 'figures_damaged':
      return `figures of ${event.file} end here: ${event.reason}`;
    case 'figures_passed_over':
      return event.lines === 1
        ? `a line of ${event.file} was passed over, ${event.reason}`
        : `${event.lines} lines of ${event.file} were passed over`;
    case 'figures_limited':
      return `the program has more than ${event.most} ${event.what} with figures; the others are left out`;
    case 'figures_delayed':
      return `figures are not written for now: ${event.reason}`;
    case 'finished':
      return `${event.phase}${event.reason === null ? '' : `: ${event.reason}`}`;
  }
}

/** Of a rank, by what its program said of its work, where it said that. */
export function failed(event: {
  exit_code: number | null;
  signal: number | null;
  outcome?: number | null | undefined;
}): boolean {
  if (typeof event.outcome === 'number') return event.outcome !== 0 && event.outcome !== 75;
  return event.signal !== null || (event.exit_code !== 0 && event.exit_code !== 75);
}

function markKind(event: RunEvent, isByHand: boolean): MarkKind | undefined {
  switch (event.kind) {
    case 'started':
      if (isByHand) return 'resume';
      return event.generation > 1 ? 'restart' : 'start';
    case 'rank_exited':
      return failed(event) ? 'rank-lost' : undefined;
    case 'hang':
      return 'hang';
    case 'stop_requested':
      return 'stop';
    case 'checkpoint':
      return 'checkpoint';
    case 'checkpoint_failed':
      return 'checkpoint-failed';
    case 'disk_low':
    case 'gap':
      return 'disk';
    case 'finished':
      return 'end';
    case 'created':
    case 'rank_started':
    case 'debugger_waiting':
    case 'node_joined':
    case 'node_lost': // its ranks are marked
    case 'waiting_for_nodes':
    case 'nodes_replaced':
    case 'mirrored':
    case 'mirror_failed':
    case 'head_changed':
    case 'sharing':
    case 'shared':
    case 'restarting':
    case 'stalled': // what comes of it is marked
    case 'moving':
    case 'checkpoint_passed_over': // it lies elsewhere on the axis
    case 'evaluator_started':
    case 'evaluator_exited':
    case 'tensorboard_started':
    case 'tensorboard_exited':
    case 'budget_low':
    case 'budget_spent': // the stop that may follow is marked
    case 'figures_damaged':
    case 'figures_passed_over':
    case 'figures_limited':
    case 'figures_delayed':
    case 'notify_failed':
      return undefined;
  }
}

/** Undefined for what needs no place on the axis. `isByHand` as in `eventText`. */
export function markOf(event: RunEvent, isByHand = false): Mark | undefined {
  const kind = markKind(event, isByHand);
  if (kind === undefined) return undefined;
  const step = 'step' in event ? event.step : 'last_step' in event ? event.last_step : null;
  return { time: event.time, step, kind, text: eventText(event, isByHand) };
}

/** How much a line of the journal matters. */
export function eventLevel(event: RunEvent): 'info' | 'warning' | 'error' {
  switch (event.kind) {
    case 'rank_exited':
    case 'evaluator_exited':
      return failed(event) ? 'error' : 'info';
    case 'hang':
    case 'node_lost':
    case 'checkpoint_failed':
    case 'checkpoint_passed_over':
      return 'error';
    case 'stalled':
    case 'disk_low':
    case 'budget_low':
    case 'budget_spent':
    case 'gap':
    case 'waiting_for_nodes':
    case 'nodes_replaced':
    case 'mirror_failed':
    case 'head_changed':
    case 'restarting':
    case 'figures_damaged':
    case 'figures_passed_over':
    case 'figures_limited':
    case 'figures_delayed':
    case 'notify_failed':
      return 'warning';
    case 'finished':
      return event.phase === 'failed' ? 'error' : 'info';
    case 'moving':
    case 'created':
    case 'started':
    case 'rank_started':
    case 'debugger_waiting':
    case 'node_joined':
    case 'mirrored':
    case 'sharing':
    case 'shared':
    case 'stop_requested':
    case 'checkpoint':
    case 'evaluator_started':
    case 'tensorboard_started':
    case 'tensorboard_exited':
      return 'info';
  }
}
