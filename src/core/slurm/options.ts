// What a profile and a request ask of Slurm, as numbers and words.
import { UserError } from '../base/errors.js';
import type { Profile } from '../contracts/profileSchema.js';
import { gpusOfPart } from './gres.js';

/** The part of a profile that is for Slurm. */
export type SlurmFields = NonNullable<Profile['slurm']>;

/** Seconds before the time limit at which a run stops, unless the profile says otherwise. */
const usualStopAhead = 120;

/** How many GPUs each node of an allocation has; 0 where none are asked for. */
export function gpusPerNodeOf({ gpusPerNode, gres }: SlurmFields): number {
  if (gpusPerNode !== undefined) return gpusPerNode;
  for (const one of (gres ?? '').split(',')) {
    const found = gpusOfPart(one);
    if (found) return found.count;
  }
  return 0;
}

/**
 * Seconds of a time limit as sbatch reads it: minutes, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM` or
 * `D-HH:MM:SS`. Undefined for `unlimited`, and for a text that is none.
 */
export function secondsOf(time: string): number | undefined {
  const [, days, rest = ''] = /^(?:(\d+)-)?(\d+(?::\d+){0,2})$/.exec(time) ?? [];
  if (rest === '') return undefined;
  const parts = rest.split(':').map(Number);
  const [hours = 0, minutes = 0, seconds = 0] =
    days !== undefined || parts.length === 3 ? parts : [0, ...parts];
  return Number(days ?? 0) * 86_400 + hours * 3600 + minutes * 60 + seconds;
}

/** Seconds by which Slurm may warn a job earlier than it was asked to. */
const slurmWarnsWithin = 60;

/**
 * UserError (usage) where a run is to stop before it can begin: with `requeue` it would wait, begin
 * and stop for ever. Where it may happen, text for people; undefined where all is well.
 */
export function stopAheadTrouble(fields: SlurmFields): string | undefined {
  const limit = fields.time === undefined ? undefined : secondsOf(fields.time);
  if (limit === undefined) return undefined;
  const ahead = stopAheadOf(fields);
  if (ahead >= limit) {
    const what = `the run is to stop ${ahead} s before its time limit of ${limit} s, so it would make no step`;
    throw new UserError('usage', what, 'Ask for more time, or set a shorter "stopAhead" in the profile');
  }
  if (fields.requeue !== true || ahead + slurmWarnsWithin < limit) return undefined;
  return `of its time limit of ${limit} s the run has ${limit - ahead} s or less: it stops ${ahead} s ahead, and Slurm may ask for that ${slurmWarnsWithin} s earlier. A start without a step is the last one`;
}

/** Seconds before the time limit at which Slurm is asked to warn the job. */
export const stopAheadOf = ({ stopAhead }: SlurmFields): number => stopAhead ?? usualStopAhead;
