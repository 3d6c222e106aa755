// The little that Trainyard itself must know of the trainer's flags; request.ts alone reads
// requests by it.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { UserError } from '../../base/errors.js';
import { nearestOf } from '../../base/nearest.js';
import {
  isAbsolute,
  isInHome,
  pathOfThisNode,
  resolve,
  withHome,
  type NodePath,
} from '../../base/nodePath.js';
import { programName } from '../../code/program.js';
import { flagValue } from './flagValue.js';

const trainerVerbs = ['train', 'eval', 'predict', 'checkpoints', 'prep', 'devices', 'bench', 'selftest'];

/** `argv` without every `--name VALUE` and `--name=VALUE` of these names. */
export function withoutFlag(argv: readonly string[], ...names: readonly string[]): string[] {
  const isOne = (word: string | undefined): boolean => word !== undefined && names.includes(word);
  return argv.filter(
    (word, index) =>
      !isOne(word) && !isOne(argv[index - 1]) && !names.some((name) => word.startsWith(`${name}=`)),
  );
}

const pathFlags = [
  ...['--data', '--eval-data', '--init-weights', '--run-dir', '--to', '--out', '--from'],
  ...['--validation-from', '--labels', '--label-names', '--download-dir'],
];
/** These take a path, or a name that means something to the trainer. */
const pathOrNameFlags = ['--resume', '--checkpoint'];

/**
 * Ranks do not start in the folder in which the user typed, so paths among the flags become
 * absolute, or begin with `~`: the home folder of the node that reads them, which is not known
 * here. `cwd`: a folder of that node; an absolute one is of this machine, whose home is known.
 * UserError (usage) for a path that only Windows knows.
 */
export function absolutePaths(argv: readonly string[], cwd: NodePath): string[] {
  const convert = (flag: string, value: string): string => {
    if (isAbsolute(value)) return value;
    if (isInHome(value) && isAbsolute(cwd)) return withHome(pathOfThisNode(homedir()), value);
    if (pathFlags.includes(flag)) {
      const isName = /^synthetic(:|$)/.test(value) || /^[a-z][a-z0-9]+:/.test(value);
      return isName ? value : resolve(cwd, value);
    }
    const path = resolve(cwd, value);
    return value.includes('/') || (!isInHome(cwd) && existsSync(path)) ? path : value;
  };
  const flags = [...pathFlags, ...pathOrNameFlags];
  return argv.map((word, index) => {
    const before = argv[index - 1];
    if (before !== undefined && flags.includes(before)) return convert(before, word);
    const [flag, value] = splitOnce(word);
    return value !== undefined && flags.includes(flag) ? `${flag}=${convert(flag, value)}` : word;
  });
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.indexOf('=');
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

/** Undefined for a program that is not our trainer, whatever its arguments are called. */
export const trainerVerb = ([first]: readonly string[]): string | undefined =>
  trainerVerbs.find((verb) => verb === first);

/** The same words without a leading `trainer`, which may stand before a verb. */
export const withoutTrainer = (words: readonly string[]): readonly string[] =>
  words[0] === 'trainer' ? words.slice(1) : words;

/**
 * What the trainer is asked where these words ask for its help, as `train --help`; undefined where
 * they do not.
 */
export function trainerHelpWords(words: readonly string[]): string[] | undefined {
  const own = withoutTrainer(words);
  if (words[0] !== 'trainer' && trainerVerb(own) === undefined) return undefined;
  if (!own.includes(helpFlag) && !own.includes('-h')) return undefined;
  const end = own.findIndex((word) => word.startsWith('-'));
  return [...own.slice(0, end), helpFlag];
}

const helpFlag = '--help';

/** A verb of the trainer that is nearly this word, and not the word itself. */
export function meantVerb(word: string): string | undefined {
  const verb = nearestOf(word, trainerVerbs);
  return verb === word ? undefined : verb;
}

/** What a run's id says of it: its model, its verb, or the file or program of a command. */
export function runLabel(words: readonly string[]): string {
  const verb = trainerVerb(words);
  const name = verb === undefined ? programName(words) : (flagValue(words, '--model') ?? verb);
  return cleanLabel(name) || 'run';
}

/** Lower case, and only what is easy in a folder's name. */
export function cleanLabel(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')
    .slice(0, 40);
}

/** A positive whole number, or UserError (usage). */
export function positiveInteger(text: string, what: string, hint = 'Correct it'): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  throw new UserError('usage', `${what} must be a whole number from 1, not "${text}"`, hint);
}
