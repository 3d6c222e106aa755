// The exit code of whoever stayed with a run to its end.
import { exitCodes } from '../base/errors.js';
import type { RunEntry } from '../contracts/agentApi.js';
import { statusOf } from './runStatus.js';

/** Of a run that is over: as docs/contracts/cli.md has it, for the terminal and for a task. */
export function exitCodeOf(entry: Pick<RunEntry, 'state' | 'interrupted' | 'queue'>): number {
  const status = statusOf(entry);
  if (status === 'finished') return exitCodes.done;
  return status === 'stopped' ? exitCodes.stopped : exitCodes.failed;
}
