// Where a trial's values stand in its command: in place of `{name}`, or as a flag of our trainer.
import { UserError } from '../base/errors.js';
import { nearestOf } from '../base/nearest.js';
import { flagProblems } from '../plan/request/flagCheck.js';
import { flagValue } from '../plan/request/flagValue.js';
import { trainerVerb, withoutTrainer } from '../plan/request/flags.js';
import type { TrainerFlag } from '../plan/request/trainerHelp.js';
import { valuesText, type Axis, type Values } from './grid.js';

const isPlaced = (words: readonly string[], name: string): boolean =>
  words.some((word) => word.includes(`{${name}}`));

/** Whether it is a training by our trainer. */
export const isTraining = (words: readonly string[]): boolean =>
  trainerVerb(withoutTrainer(words)) === 'train';

/**
 * UserError (usage) where a setting has no place in the command, and where trials would share a
 * folder. `flags`: what the trainer takes; not needed for another program.
 */
export function assertPlaces(
  words: readonly string[],
  axes: readonly Axis[],
  flags: readonly TrainerFlag[],
): void {
  if (isTraining(words) && (flagValue(words, runDir) !== undefined || names(axes).includes('run-dir'))) {
    const what = 'a folder is named, and every trial has one of its own';
    throw new UserError('usage', what, 'Leave the run folder out');
  }
  for (const { name } of axes) {
    if (isPlaced(words, name)) continue;
    if (isTraining(words)) assertFlag(words, name, flags);
    else throw noPlace(words, name);
  }
}

const runDir = '--run-dir';
const names = (axes: readonly Axis[]): string[] => axes.map(({ name }) => name);

function assertFlag(words: readonly string[], name: string, flags: readonly TrainerFlag[]): void {
  const flag = `--${name}`;
  if (!flags.some((one) => one.name === flag)) {
    const known = flags.map((one) => one.name.replace(/^-+/, ''));
    const nearest = nearestOf(name, known);
    const hint = nearest === undefined ? 'Name one of its flags' : `Did you mean ${nearest}?`;
    throw new UserError('usage', `the trainer has no flag ${flag}`, hint);
  }
  if (!words.some((word) => word === flag || word.startsWith(`${flag}=`))) return;
  throw new UserError('usage', `${flag} is both tried and given`, 'Leave it out of the training');
}

function noPlace(words: readonly string[], name: string): UserError {
  const placed = words.flatMap((word) =>
    [...word.matchAll(/\{([A-Za-z_][\w-]*)\}/g)].map(([, at = '']) => at),
  );
  const nearest = nearestOf(name, placed);
  const hint =
    nearest === undefined
      ? `Write {${name}} where its value belongs`
      : `The command has {${nearest}}: give both the same name`;
  return new UserError('usage', `the command has no {${name}}`, hint);
}

/** The command of one trial. What nothing takes the place of is a flag behind the others. */
export function wordsOfTrial(
  words: readonly string[],
  values: Values,
  flags: readonly TrainerFlag[],
): string[] {
  const entries = Object.entries(values);
  const replaced = words.map((word) =>
    word.replace(/\{([A-Za-z_][\w-]*)\}/g, (all, name: string) => values[name] ?? all),
  );
  const added = entries.flatMap(([name, value]) => {
    if (isPlaced(words, name)) return [];
    const flag = flags.find((one) => one.name === `--${name}`);
    if (flag?.value !== undefined) return [`--${name}`, value];
    return value === 'true' ? [`--${name}`] : [];
  });
  return [...replaced, ...added];
}

/**
 * What is wrong with the flags of a training, before anything is started. UserError (usage) that
 * names the trial's values.
 */
export function assertTrial(words: readonly string[], values: Values, flags: readonly TrainerFlag[]): void {
  for (const [name, value] of Object.entries(values)) {
    const flag = flags.find((one) => one.name === `--${name}`);
    if (flag === undefined || flag.value !== undefined || isPlaced(words, name)) continue;
    if (value === 'true' || value === 'false') continue;
    const what = `${flag.name} takes no value, and is tried with ${value}`;
    throw new UserError('usage', what, 'Write true and false for with and without it');
  }
  const [first] = flagProblems(withoutTrainer(wordsOfTrial(words, values, flags)).slice(1), flags);
  if (first) throw new UserError('usage', `with ${valuesText(values)}: ${first.what}`, first.hint);
}
