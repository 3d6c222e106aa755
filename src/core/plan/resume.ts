// How a run that ended early goes on: by being started again in its folder, from its newest valid
// checkpoint.
import { UserError } from '../base/errors.js';
import type { NodePath } from '../base/nodePath.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { RunFile } from '../contracts/runSchema.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { slurmTexts } from '../slurm/wish.js';
import { withoutOwnResume } from './origin.js';
import { assertBudgetLeft } from './request/budget.js';
import { commandLineOf } from './request/commandLine.js';
import { flagValue } from './request/flagValue.js';
import { resumedHosts } from './request/hostWish.js';
import { keptWishes, type RunWishes } from './request/keptWishes.js';
import { typedOf, usedDevice } from './request/recordedRun.js';
import type { TypedRun } from './request/request.js';

/** In place of what the run asked for. */
interface OtherWishes extends RunWishes {
  /** It goes on with every slot of these, in place of its hosts, nodes and ranks. */
  hosts?: readonly string[] | undefined;
  /** With so many ranks, on as many nodes as that takes. */
  ranks?: number | undefined;
  /** With these GPUs of each node, as `--gpus` has them. */
  gpus?: string | undefined;
}

/**
 * What asks for the same run once more, in its folder: it goes on from its newest valid checkpoint,
 * and a program of the user's finds its folder as it was. `cwd`: where relative paths are read if
 * the run's record does not say. UserError (usage) for a run that cannot go on.
 */
export function resumedRun(
  entry: RunEntry,
  profile: Profile,
  cwd: string,
  { hosts: otherHosts, ranks: otherRanks, gpus: otherGpus, ...other }: OtherWishes = {},
): TypedRun {
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
  const typed = typedAgain(run, dir);
  const { logdir, tensorboard, evaluator } = typed;
  const gpus = otherGpus ?? typed.gpus;
  const there = otherHosts
    ? onHosts(run, typed, otherHosts)
    : spreadOf(profile, typed, resumedHosts(profile, typed.hosts, entry));
  const spread = otherRanks === undefined ? there : withRanks(run, there, otherRanks);
  const kept = keptWishes(profile, typed);
  const slurm = { ...kept.slurm, ...other.slurm };
  const wishes = { ...kept, ...other, ...(slurmTexts(slurm).length === 0 ? {} : { slurm }) };
  assertBudgetLeft(entry, wishes);
  return {
    profile,
    tensorboard,
    evaluator,
    cwd: run.cwd ?? cwd,
    runDir: dir,
    deviceBefore: usedDevice(run),
    ...wishes,
    ...spread,
    ...(gpus === undefined ? {} : { gpus }),
    ...(logdir === undefined ? {} : { logdir }),
    ...(run.report === undefined ? {} : { report: run.report }),
  };
}

/** What was typed, for another start in the run's folder, whose packages its record has. */
function typedAgain(run: RunFile, dir: NodePath): ReturnType<typeof typedOf> {
  const typed = typedOf(run);
  delete typed.requirements;
  return run.program === 'trainer' ? { ...typed, words: withoutOwnResume(typed.words, dir) } : typed;
}

/** The processes of a run, and where they are. */
type Spread = Pick<TypedRun, 'words' | 'ranks' | 'nodes' | 'hosts' | 'per'>;

/** As they were; this machine is one node. */
const spreadOf = (
  { kind }: Profile,
  { words, ranks, nodes, per }: Spread,
  hosts: TypedRun['hosts'],
): Spread => ({
  words,
  ...(ranks === undefined ? {} : { ranks }),
  ...(nodes === undefined || kind === 'local' ? {} : { nodes }),
  ...(hosts === undefined ? {} : { hosts }),
  ...(per === undefined ? {} : { per }),
});

/**
 * On every slot of other hosts. However many these are, a training keeps its global batch. A
 * program that was one process stays one.
 */
function onHosts(run: RunFile, { words, per }: Spread, hosts: readonly string[]): Spread {
  if (run.program === 'trainer') return { words: plannedWords(run, words), hosts };
  const spread = per ?? (run.ranks > 1 ? 'slot' : undefined);
  return { words, hosts, ...(spread === undefined ? {} : { per: spread }) };
}

/** So many, on as many nodes as that takes: no more than the run had, unless it has more ranks. */
function withRanks(run: RunFile, spread: Spread, ranks: number): Spread {
  const kept = { ...spread, words: plannedWords(run, spread.words), ranks };
  if (ranks > (spread.ranks ?? run.ranks)) delete kept.nodes;
  return kept;
}

/** For how many ranks the batch of a training is meant. */
const plannedRanks = '--planned-ranks';

/** Of a training, with the number of ranks that its batch is meant for. */
const plannedWords = ({ program, ranks }: RunFile, words: readonly string[]): readonly string[] =>
  program !== 'trainer' || flagValue(words, plannedRanks) !== undefined
    ? words
    : [...words, plannedRanks, String(ranks)];

/**
 * The command line, for a POSIX shell; undefined where the folder's run.json is not there to tell
 * of it.
 */
export function resumeCommand(
  { run, dir }: Pick<RunEntry, 'run' | 'dir'>,
  profile: string,
): string | undefined {
  if (!run) return undefined;
  const typed = typedOf(run);
  delete typed.requirements; // those of its record
  return commandLineOf({ profile, runDir: dir, ...typed });
}
