// How a run that ended early goes on: by being started again in its folder, from its newest valid
// checkpoint.
import { UserError } from '../base/errors.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { slurmTexts } from '../slurm/wish.js';
import { assertBudgetLeft } from './request/budget.js';
import { commandLineOf } from './request/commandLine.js';
import { resumedHosts } from './request/hostWish.js';
import { keptWishes, type RunWishes } from './request/keptWishes.js';
import { typedOf, usedDevice, type TypedRun } from './request/request.js';

/**
 * What asks for the same run once more, in its folder: it goes on from its newest valid checkpoint,
 * and a program of the user's finds its folder as it was. `cwd`: where relative paths are read if
 * the run's record does not say. `other`: in place of its budget and of what it asked of Slurm.
 * UserError (usage) for a run that cannot go on.
 */
export function resumedRun(entry: RunEntry, profile: Profile, cwd: string, other: RunWishes = {}): TypedRun {
  const { id, run, dir } = entry;
  const status = statusOf(entry);
  if (!run) {
    const what = `${id} has no run.json that can be read, so nobody knows its command`;
    throw new UserError('usage', what, 'Start a new run');
  }
  if (!isOver(status)) {
    throw new UserError('usage', `${id} is ${status}: there is nothing to resume`, 'Stop it first');
  }
  if (status === 'finished') {
    const what = `${id} has finished: nothing is left to do`;
    throw new UserError('usage', what, 'Start a new run with more epochs or steps');
  }
  const typed = typedOf(run);
  const { words, ranks, nodes, per, gpus, logdir, tensorboard, evaluator } = typed;
  const hosts = resumedHosts(profile, typed.hosts, dir);
  const kept = keptWishes(profile, typed);
  const slurm = { ...kept.slurm, ...other.slurm };
  const wishes = { ...kept, ...other, ...(slurmTexts(slurm).length === 0 ? {} : { slurm }) };
  assertBudgetLeft(entry, wishes);
  return {
    profile,
    words,
    ranks,
    tensorboard,
    evaluator,
    cwd: run.cwd ?? cwd,
    runDir: dir,
    deviceBefore: usedDevice(run),
    ...wishes,
    ...(nodes === undefined ? {} : { nodes }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(per === undefined ? {} : { per }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(logdir === undefined ? {} : { logdir }),
    ...(run.report === undefined ? {} : { report: run.report }),
  };
}

/**
 * The command line, for a POSIX shell; undefined where the folder's run.json is not there to tell
 * of it.
 */
export function resumeCommand(
  { run, dir }: Pick<RunEntry, 'run' | 'dir'>,
  profile: string,
): string | undefined {
  if (!run) return undefined;
  return commandLineOf({ profile, runDir: dir, ...typedOf(run) });
}
