// A task of the editor as the run that it asks for.
import { UserError } from '../base/errors.js';
import { check, problemsText } from '../base/validation.js';
import { localProfile } from '../contracts/profileSchema.js';
import { taskSchema } from '../contracts/taskSchema.js';
import { gpuWishOf } from './request/gpuWish.js';
import { ownWishesOf } from './request/ownWishes.js';
import { timeLimitOf } from './request/timeLimit.js';
import { slurmTexts, slurmWishOf } from '../slurm/wish.js';
import type { TypedRun } from './request/request.js';
import { fileOf } from './runFile.js';
import { splitWords } from './request/argv.js';

/**
 * What a task asks for. `cwd` is as it was written, or the folder that the task belongs to. `wait`
 * is undefined where the task leaves that to the user.
 */
export interface TaskRun extends Omit<TypedRun, 'profile' | 'evaluator' | 'runDir' | 'code'> {
  profile: string;
  /** The folder that goes along, as it was written. */
  codeFolder?: string;
  /** Show the run's dashboard beside the terminal. */
  dashboard: boolean;
}

/** `folder`: that of the task. UserError (usage) that names each wrong field. */
export function taskRun(definition: unknown, folder: string): TaskRun {
  const result = check(taskSchema, definition);
  if (!result.ok) {
    const what = `the task is not right: ${problemsText(result.problems)}`;
    throw new UserError('usage', what, 'Correct it in tasks.json');
  }
  const {
    profile = localProfile.name,
    program,
    command,
    cwd,
    name,
    nodes,
    hosts,
    perSlot,
    ranks,
    perNode,
    gpus,
    code,
    budget,
    budgetStop,
    timeLimit,
    silenceTimeout,
    share,
    requirements,
    slurm,
    ...rest
  } = result.data;
  const words = program ?? splitWords(command ?? '');
  return {
    profile,
    words,
    cwd: cwd ?? folder,
    ...(name === undefined ? {} : { name }),
    ...(ranks === undefined ? {} : { ranks }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(gpus === undefined ? {} : { gpus: gpuWishOf(String(gpus), '"gpus" of the task').text }),
    ...(code === undefined ? {} : { codeFolder: code }),
    ...(perSlot === true ? { per: 'slot' as const } : {}),
    ...(perNode === true ? { per: 'node' as const } : {}),
    ...(budget === undefined ? {} : { budget }),
    ...(budgetStop === undefined ? {} : { budgetStop }),
    ...(timeLimit === undefined ? {} : { timeLimit: timeLimitOf(timeLimit, '"timeLimit" of the task') }),
    ...ownWishesOf({ silenceTimeout, share }, (field) => `"${field}" of the task`),
    ...(requirements === undefined ? {} : { requirements }),
    ...(slurm === undefined ? {} : { slurm: slurmWishOf(slurmTexts(slurm)) }),
    tensorboard: rest.tensorboard ?? false,
    ...(rest.wait === undefined ? {} : { wait: rest.wait }),
    dashboard: rest.dashboard ?? false,
  };
}

/**
 * On this machine, where the start can be looked at: UserError (usage) where the folder or the file
 * that the words run is not there. `exists` is asked with whole paths, made by `resolve`.
 */
export function checkFiles(
  { words, cwd }: Pick<TaskRun, 'words' | 'cwd'>,
  { exists, resolve }: { exists: (path: string) => boolean; resolve: (...parts: string[]) => string },
): void {
  if (!exists(cwd)) {
    throw new UserError(
      'usage',
      `there is no folder ${cwd}`,
      'Correct "cwd" of the task, or make the folder',
    );
  }
  const file = fileOf(words);
  if (file === undefined || exists(resolve(cwd, file))) return;
  const hint = 'Correct the program of the task, or name its folder as "cwd"';
  throw new UserError('usage', `there is no file ${file} in ${cwd}`, hint);
}
