// The command line that makes a sweep, as its record keeps it.
import { runFlags, type AskedRun } from '../plan/request/commandLine.js';
import type { AskedSweep } from './record.js';

/** As a user types it. `random`: how many trials are drawn. */
export interface TypedTrials {
  settings: readonly string[];
  random?: number | undefined;
  metric?: string | undefined;
  goal?: string | undefined;
  prune?: number | undefined;
  name: string;
}

/** The run without what a sweep decides itself, and what makes no sense for several runs. */
export function commonRun(run: AskedRun): AskedRun {
  const common = { ...run };
  delete common.debug;
  delete common.name;
  delete common.notes;
  delete common.runDir;
  delete common.tensorboard;
  delete common.wait;
  return common;
}

/** `run`: as `commonRun` gives it, with the command in which values have their places. */
export function askedSweep(run: AskedRun, trials: TypedTrials): AskedSweep {
  const { settings, random, metric, goal, prune, name } = trials;
  const flags: Record<string, string[]> = {};
  const add = (flag: string, value: string | undefined): void => {
    (flags[flag] ??= []).push(value ?? '');
  };
  for (const [flag, value] of runFlags(run)) add(flag, value);
  for (const setting of settings) add('grid', setting);
  if (random !== undefined) add('random', String(random));
  if (metric !== undefined) add('metric', metric);
  if (goal !== undefined) add('goal', goal);
  if (prune !== undefined) add('prune', String(prune));
  add('name', name);
  return { profile: run.profile, flags, rest: [...run.words] };
}
