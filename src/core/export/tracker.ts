// An experiment tracker, as the export sees it.
import type { Progress } from '../base/progress.js';
import type { RunRecord } from './runRecord.js';

/** A file of a checkpoint on this machine. */
export interface CheckpointFolder {
  step: number;
  /** Absolute, on this machine. */
  path: string;
  files: readonly string[];
}

/** Where one run goes. Errors are UserErrors; those of kind `connection` may pass by themselves. */
export interface Tracker {
  /** Fails where nothing could be exported: no server, no login, no program. Changes nothing. */
  demand(progress: Progress): Promise<void>;
  /** Brings the tracker's run to what the record has. Called again, it sends what is new. */
  sync(record: RunRecord, progress: Progress): Promise<void>;
  /** After `sync`. */
  addCheckpoint(folder: CheckpointFolder, progress: Progress): Promise<void>;
  /** The last call of an export that went well. Gives where a person finds the run. */
  finish(): Promise<string>;
}
