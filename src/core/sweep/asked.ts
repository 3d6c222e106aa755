// The command line that makes a sweep, as its record keeps it.
import { runFlags, type AskedRun } from '../plan/request/commandLine.js';
import type { AskedSweep } from './record.js';

/** As a user types it: settings, how many are drawn, the figure that counts, and the name. */
export interface TypedTrials {
  settings: readonly string[];
  random?: number | undefined;
  metric?: string | undefined;
  goal?: string | undefined;
  name: string;
}

/** What a sweep decides itself, or what makes no sense for several runs. */
const ofOneRun = ['debug', 'name', 'notes', 'run-dir', 'tensorboard', 'wait'];

/** `run`: what the trials have in common, with the command in which values have their places. */
export function askedSweep(run: AskedRun, trials: TypedTrials): AskedSweep {
  const { settings, random, metric, goal, name } = trials;
  const flags: Record<string, string[]> = {};
  const add = (flag: string, value: string | undefined): void => {
    (flags[flag] ??= []).push(value ?? '');
  };
  for (const [flag, value] of runFlags(run)) if (!ofOneRun.includes(flag)) add(flag, value);
  for (const setting of settings) add('grid', setting);
  if (random !== undefined) add('random', String(random));
  if (metric !== undefined) add('metric', metric);
  if (goal !== undefined) add('goal', goal);
  add('name', name);
  return { profile: run.profile, flags, rest: [...run.words] };
}
