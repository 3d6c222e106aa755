// One export of one run: once, or for as long as the run goes on.
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentNode } from '../agent/agentNode.js';
import { Cancelled, errorText, throwIfCancelled, UserError } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import type { RunEntry } from '../contracts/agentApi.js';
import { isEnd } from '../model/runStatus.js';
import { exportCheckpoints, type ExportedCheckpoints } from './checkpoints.js';
import { RunFiles } from './runFiles.js';
import type { RunRecord } from './runRecord.js';
import type { Tracker } from './tracker.js';

/** Milliseconds between two looks at a run that is followed. */
const usualInterval = 5000;
/** After a lost connection; twice as long each time. */
const firstPause = 1000;
const longestPause = 30_000;
/** How long a lost connection is tried again. */
const patience = 3_600_000;

/** `node` knows the run. */
export interface ExportOptions {
  node: AgentNode;
  entry: RunEntry;
  tracker: Tracker;
  /** Goes on until the run is over. */
  follow: boolean;
  checkpoints?: ExportedCheckpoints | undefined;
  /** `updated` of the state that an earlier run left in the folder: it says nothing of this one. */
  staleState?: number | undefined;
  progress: Progress;
  /** Is given what a user should know. */
  onNote: (text: string) => void;
  /** Milliseconds between two looks. */
  interval?: number;
}

/** What an export came to. */
export interface Exported {
  /** Where a person finds the run. */
  place: string;
  /** Values of all curves that the tracker now has. */
  values: number;
  checkpoints: number;
}

/**
 * Exports the run. A lost connection, to the node or the tracker, ends an export that was asked for
 * once; one that follows tries again. Errors are those of the tracker, the agent and `downloadCheckpoint`;
 * Cancelled.
 */
export async function exportRun(options: ExportOptions): Promise<Exported> {
  const { node, entry, tracker, progress } = options;
  await tracker.demand(progress);
  const files = new RunFiles(entry.dir);
  const record = options.follow ? await follow(options, files) : await once(options, files);
  const checkpoints =
    options.checkpoints === undefined
      ? 0
      : await exportCheckpoints(node, record.details, options.checkpoints, tracker, progress);
  let values = 0;
  for (const { points } of record.series.values()) values += points.length;
  return { place: await tracker.finish(), values, checkpoints };
}

async function once({ node, tracker, progress }: ExportOptions, files: RunFiles): Promise<RunRecord> {
  progress.onProgress?.('reading the run');
  const record = await files.look(await node.client(), progress.signal);
  throwIfCancelled(progress.signal);
  await tracker.sync(record, progress);
  return record;
}

async function follow(options: ExportOptions, files: RunFiles): Promise<RunRecord> {
  const { progress, onNote } = options;
  let pause = firstPause;
  let lostAt: number | undefined;
  for (;;) {
    try {
      const record = await once(options, files);
      if (lostAt !== undefined) onNote('connected again; the export goes on');
      lostAt = undefined;
      pause = firstPause;
      if (isEnd(record.details, options.staleState)) return record;
      await sleep(options.interval ?? usualInterval, progress.signal);
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'connection') throw error;
      if (lostAt === undefined) onNote(`${errorText(error)} It is tried again.`);
      lostAt ??= Date.now();
      if (Date.now() - lostAt > patience) throw error;
      await sleep(pause, progress.signal);
      pause = Math.min(2 * pause, longestPause);
    }
  }
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(milliseconds, undefined, signal ? { signal } : {});
  } catch {
    throw new Cancelled();
  }
}
