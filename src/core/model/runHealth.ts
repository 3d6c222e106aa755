// How a run is, in one line of words: the one answer that terminal, tree, status bar and dashboard
// show.
import { plural } from '../base/plural.js';
import type { QueueStand } from '../contracts/agentApi.js';
import { evaluatorEndText } from './evaluatorEnd.js';
import { eventText } from './marks.js';
import type { RunJournal } from './runJournal.js';
import type { RunMetrics } from './runMetrics.js';
import { isOver, type RunStatus } from './runStatus.js';
import { isResumed, type Starts } from './starts.js';
import type { IdleGpus } from './hosts/idleGpus.js';
import { slowRanksName, slowRanksReason } from './hosts/slowRanks.js';

/** `note`: worth a word, nothing is wrong. */
type HealthLevel = 'good' | 'note' | 'warning' | 'error';

/** What the line is about. */
export type HealthKind =
  | 'healthy'
  | 'queued'
  | 'starting'
  | 'restarting'
  | 'resumed'
  | 'node-lost'
  | 'recovered'
  | 'stalled'
  | 'silent'
  | 'waiting'
  | 'checkpoint-failed'
  | 'disk-low'
  | 'budget'
  | 'bad-images'
  | 'loss-lost'
  | 'evaluator'
  | 'idle-gpus'
  | 'slow-rank'
  | 'input-bound'
  | 'communication-bound'
  | 'over';

/** `text` is a sentence without its end, for people; it begins with the word that matters. */
export interface Health {
  level: HealthLevel;
  kind: HealthKind;
  text: string;
}

/** What health is judged by. */
export interface HealthFacts {
  status: RunStatus;
  /** Why the run ended as it did. */
  reason: string | null;
  /** What it waits for while it is queued. */
  waiting?: string | undefined;
  /** Of a run that Slurm starts: its job. */
  queue?: QueueStand | undefined;
  /** Starts so far, from 1. */
  generation: number;
  /** Who began them. */
  starts: Starts;
  /** Seconds that the newest generation cost, where a supervisor began it; undefined: not known. */
  lost: number | undefined;
  /** How often the run may be started again; undefined where nobody knows. */
  maxRestarts: number | undefined;
  /** Without metrics of steps. */
  isOwnProgram: boolean;
  journal: RunJournal;
  metrics: RunMetrics;
  /** Of an own program: the step since which its loss is no number. */
  lossLostSince?: number | undefined;
  /** Undefined where none is idle, or nobody knows. */
  idleGpus?: IdleGpus | undefined;
  /** The node's clock, seconds since the epoch. */
  now: number;
}

/** Seconds for which the line still names trouble that is over. */
const recoveredFor = 120;
/** Seconds without a step line that are never too many. */
const patience = 15;
/** So many times the usual distance of step lines is too long. */
const missedBeats = 5;
/** From these shares of a step's time on, input or communication is what limits the run. */
const inputBound = 0.3;
const communicationBound = 0.4;

const line = (level: HealthLevel, kind: HealthKind, text: string): Health => ({ level, kind, text });
const seconds = (value: number): string =>
  value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`;

/** The gravest of what is true now. */
export function healthOf(facts: HealthFacts): Health {
  if (isOver(facts.status)) return overHealth(facts);
  if (facts.status === 'queued') {
    return line('note', 'queued', facts.waiting === undefined ? 'queued' : `queued: ${facts.waiting}`);
  }
  if (facts.status === 'stopping') return line('note', 'over', 'stopping');
  return (
    restartHealth(facts) ??
    silence(facts) ??
    diskHealth(facts) ??
    budgetHealth(facts) ??
    lossHealth(facts) ??
    badImages(facts) ??
    evaluatorHealth(facts) ??
    idleGpusHealth(facts) ??
    slowRank(facts) ??
    recovery(facts) ??
    slowRankOver(facts) ??
    bound(facts) ??
    line('good', 'healthy', `healthy${restartsText(facts)}${limitText(facts)}`)
  );
}

const restartsText = ({ starts: { restarts } }: HealthFacts): string =>
  restarts > 0 ? `, ${plural(restarts, 'restart')}` : '';

/** A batch script's end is Slurm's time limit, which comes whatever the run does. */
function limitText({ queue }: HealthFacts): string {
  if (queue?.kind !== 'running' || queue.secondsLeft === null) return '';
  return `, ${seconds(queue.secondsLeft)} until Slurm's time limit`;
}

function badImagesText({ metrics }: HealthFacts): string {
  const { badImages, start } = metrics;
  const of = start && badImages <= start.train_images ? ` of ${start.train_images}` : '';
  return `${badImages}${of} images could not be read`;
}

function overHealth(facts: HealthFacts): Health {
  const { status, reason, metrics } = facts;
  if (status === 'failed') return line('error', 'over', reason === null ? 'failed' : `failed: ${reason}`);
  if (status === 'interrupted') {
    return line('error', 'over', `interrupted: ${reason ?? 'nobody supervises it any more'}`);
  }
  const why = reason === null || status === 'finished' ? '' : `: ${reason}`;
  const text = `${status}${restartsText(facts)}${why}`;
  if (facts.queue?.kind === 'ended') return line('warning', 'over', text); // Slurm ended it
  const { lossLostSince } = facts;
  if (lossLostSince !== undefined) {
    return line('warning', 'loss-lost', `${text}, ${lossLostText(lossLostSince)}`);
  }
  if (metrics.badImages > 0) return line('warning', 'bad-images', `${text}, ${badImagesText(facts)}`);
  const lacks = evaluatorText(facts);
  return lacks === undefined ? line('good', 'over', text) : line('warning', 'evaluator', `${text}, ${lacks}`);
}

/** Between the end of one generation and the first step of the next. */
function restartHealth(facts: HealthFacts): Health | undefined {
  const { journal, generation, starts, maxRestarts, metrics, isOwnProgram } = facts;
  const { cause, previous } = journal;
  const count = (number: number): string =>
    maxRestarts === undefined ? `restart ${number}` : `restart ${number} of ${maxRestarts}`;
  if (cause) {
    const isLast = maxRestarts !== undefined && starts.sinceResume >= maxRestarts;
    if (isLast) return line('error', cause.kind === 'node' ? 'node-lost' : 'restarting', cause.text);
    const next = journal.waiting ?? journal.sharing;
    const wait = next ? `; ${eventText(next)}` : '';
    const kind = cause.kind === 'node' ? 'node-lost' : 'restarting';
    return line('warning', kind, `restarting: ${cause.text}, ${count(starts.sinceResume + 1)}${wait}`);
  }
  if (journal.waiting) {
    const level = generation > 1 && !isResumed(starts) ? 'warning' : 'note';
    return line(level, 'waiting', eventText(journal.waiting));
  }
  if (journal.sharing) return line('note', 'starting', `starting: ${eventText(journal.sharing)}`);
  const hasStep = isOwnProgram || metrics.trained >= generation;
  if (generation > 1 && !hasStep) {
    const from = metrics.resumedAt(generation);
    if (isResumed(starts)) {
      return line('note', 'resumed', from === undefined ? 'resumed' : `resumed from step ${from}`);
    }
    const why = previous === undefined ? '' : `: ${previous.text}`;
    const where = from === undefined ? '' : `, from step ${from}`;
    return line('warning', 'restarting', `restarting${why}${where}, ${count(starts.sinceResume)}`);
  }
  return facts.status === 'starting' ? line('note', 'starting', 'starting') : undefined;
}

/** Ranks that stand still, by the supervisor's word or by steps that do not come. */
function silence({ journal, metrics, now, status }: HealthFacts): Health | undefined {
  const last = metrics.lastStep?.time;
  const { stalled } = journal;
  if (stalled && (last === undefined || stalled.time > last)) {
    return line('warning', 'stalled', `stalled: ${eventText(stalled)}`);
  }
  if (last === undefined || status !== 'running') return undefined;
  const limit = Math.max(patience, missedBeats * (metrics.recent.longestGap ?? patience));
  return now - last > limit
    ? line(
        'warning',
        'silent',
        `no figures for ${seconds(now - last)}, the last of step ${metrics.lastStep?.step ?? 0}`,
      )
    : undefined;
}

function diskHealth({ journal }: HealthFacts): Health | undefined {
  const { checkpointFailed, diskLow } = journal;
  if (checkpointFailed) return line('warning', 'checkpoint-failed', eventText(checkpointFailed));
  return diskLow && line('warning', 'disk-low', eventText(diskLow));
}

function budgetHealth({ journal: { budget } }: HealthFacts): Health | undefined {
  return budget && line('warning', 'budget', eventText(budget));
}

/** A program of one's own may go on with it for days. */
const lossLostText = (since: number): string => `loss NaN or infinite since step ${since}`;

function lossHealth({ lossLostSince }: HealthFacts): Health | undefined {
  return lossLostSince === undefined ? undefined : line('warning', 'loss-lost', lossLostText(lossLostSince));
}

function badImages(facts: HealthFacts): Health | undefined {
  return facts.metrics.badImages > 0 ? line('warning', 'bad-images', badImagesText(facts)) : undefined;
}

/** Where to look for the reason is its log. */
function evaluatorText({ status, journal, metrics }: HealthFacts): string | undefined {
  const text = evaluatorEndText(status, journal.evaluator, metrics);
  return text && `${text}; see the log of eval`;
}

function evaluatorHealth(facts: HealthFacts): Health | undefined {
  const text = evaluatorText(facts);
  return text === undefined ? undefined : line('warning', 'evaluator', text);
}

/** They cost as much as those that work. */
function idleGpusHealth({ status, idleGpus }: HealthFacts): Health | undefined {
  if (status !== 'running' || !idleGpus) return undefined;
  const { idle, all } = idleGpus;
  return line(
    'warning',
    'idle-gpus',
    `${idle} of ${plural(all, 'GPU')} idle for ${seconds(idleGpus.seconds)}`,
  );
}

/** All ranks wait for it. */
function slowRank({ metrics }: HealthFacts): Health | undefined {
  const slow = metrics.slowRanks.now;
  return slow && line('warning', 'slow-rank', `slow: ${slowRanksName(slow)}, ${slowRanksReason(slow)}`);
}

function slowRankOver({ metrics, now }: HealthFacts): Health | undefined {
  const { over } = metrics.slowRanks;
  if (!over || now - over.time > recoveredFor) return undefined;
  const verb = over.slow.ranks.length === 1 ? 'is' : 'are';
  return line(
    'note',
    'recovered',
    `recovered: ${slowRanksName(over.slow)} ${verb} as fast as the others again`,
  );
}

/** What the last restart cost. */
function recovery({ generation, starts, lost, journal, metrics, now }: HealthFacts): Health | undefined {
  const { previous } = journal;
  const { began } = metrics.recent;
  if (began === undefined || generation <= 1 || now - began > recoveredFor) return undefined;
  if (isResumed(starts) || !previous) return undefined;
  const from = metrics.resumedAt(generation);
  const where = from === undefined ? '' : ` from step ${from}`;
  const cost = lost === undefined ? '' : `, ${seconds(lost)} lost`;
  return line('note', 'recovered', `recovered${where}${cost}: ${previous.text}`);
}

function bound({ metrics }: HealthFacts): Health | undefined {
  const { shares } = metrics.recent;
  if (!shares) return undefined;
  const text = (share: number): string => `${Math.round(share * 100)}% of a step`;
  if (shares.input >= inputBound && shares.input >= shares.communication) {
    return line('note', 'input-bound', `input-bound: ${text(shares.input)} waits for images`);
  }
  if (shares.communication < communicationBound) return undefined;
  return line(
    'note',
    'communication-bound',
    `communication-bound: ${text(shares.communication)} sums gradients`,
  );
}

const kindsWithoutNews = new Set<HealthKind>([
  'restarting',
  'resumed',
  'node-lost',
  'waiting',
  'stalled',
  'silent',
]);

/** Whether the newest figures are of a time that is over. */
export const hasOldFigures = ({ kind }: Health): boolean => kindsWithoutNews.has(kind);
