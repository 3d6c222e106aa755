// What is wrong with flags of our trainer, found before anything is started. The rules are those of
// the trainer itself (native/trainer/cli), by what its help says of each flag.
import { UserError } from '../../base/errors.js';
import { nearestOf } from '../../base/nearest.js';
import { splitWords } from './argv.js';
import { withoutTrainer } from './flags.js';
import type { RunRequest } from './request.js';
import { offeredFlags, type TrainerFlag } from './trainerHelp.js';

/** One thing that is wrong. */
export interface FlagProblem {
  /** The flag as it was typed, or the word that is none. */
  flag: string;
  /** What is wrong with it. */
  what: string;
  /** What to do. */
  hint: string;
}

/** All problems of the words after the verb `train`, which takes nothing but flags. */
export function flagProblems(words: readonly string[], flags: readonly TrainerFlag[]): FlagProblem[] {
  const found: FlagProblem[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [name = '', inline] = word.startsWith('--') ? splitOnce(word) : [word];
    const problem = (what: string, hint: string): void => {
      found.push({ flag: name, what, hint });
    };
    const flag = flags.find((each) => each.name === name);
    if (!flag) {
      const [what, hint] = unknown(name, flags);
      problem(what, hint);
      // The value of a flag that nobody knows is no problem of its own.
      if (inline === undefined && name.startsWith('-') && words[at + 1]?.startsWith('-') === false) at++;
      continue;
    }
    if (flag.value === undefined) continue;
    if (seen.has(name)) problem(`${name} is given twice`, 'Give it once');
    seen.add(name);
    const value = inline ?? words[++at];
    if (value === undefined || (inline === undefined && value.startsWith('--'))) {
      problem(`${name} needs a value`, valueHint(flag));
      if (value !== undefined) at--;
      continue;
    }
    const wrong = valueProblem(flag, value);
    if (wrong !== undefined) problem(`${name} ${wrong}`, 'Correct it');
  }
  return found;
}

/**
 * What is wrong with a typed command line, in words: quotes, or the first wrong flag of a training.
 * Undefined where nothing is, and of what `flags` say nothing: other programs and verbs.
 */
export function lineProblem(line: string, flags: readonly TrainerFlag[]): string | undefined {
  try {
    const typed = splitWords(line);
    const words = withoutTrainer(typed);
    if (flags.length === 0 || words[0] !== 'train') return undefined;
    const [first] = flagProblems(words.slice(1), flags);
    return first && `${first.what}. ${first.hint}`;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

/**
 * UserError (usage) that names the first problem of a training. `help`: what the trainer prints of
 * `train`; asked for only where it counts.
 */
export async function assertTrainFlags(request: RunRequest, help: () => Promise<string>): Promise<void> {
  if (request.kind !== 'train') return;
  const [first] = flagProblems(request.argv.slice(1), offeredFlags('train', await help()));
  if (first) throw new UserError('usage', first.what, first.hint);
}

/** The words by which the trainer tells its flags. */
export const trainHelp = ['train', '--help'];

/** Why the value does not suit the flag, as `must be …`; undefined where it does. */
function valueProblem(flag: TrainerFlag, value: string): string | undefined {
  if (flag.choices.length > 0) {
    if (flag.choices.includes(value)) return undefined;
    const nearest = nearestOf(value, flag.choices);
    const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return `must be ${anyOf(flag.choices)}, not "${value}"${meant}`;
  }
  if (flag.range === undefined) return undefined;
  const parts = flag.list ? value.split(',') : [value];
  const fits = parts.every((part) => holds(flag, part));
  return fits ? undefined : `must be ${valueWords(flag)}, not "${value}"`;
}

/** `a whole number from 1 to 1024`; empty for a flag whose value may be any text. */
export function valueWords({ value, range, list }: TrainerFlag): string {
  const bounds = boundsOf(range);
  if (!bounds) return '';
  const one = value === 'FLOAT' ? 'a number' : 'a whole number';
  const first = list ? 'numbers with commas between them, each' : one;
  const from = `${bounds.leastLeftOut ? 'above' : 'from'} ${bounds.least}`;
  const to = `${bounds.mostLeftOut ? 'and below' : bounds.leastLeftOut ? 'up to' : 'to'} ${bounds.most}`;
  return `${first} ${from} ${to}`;
}

function unknown(word: string, flags: readonly TrainerFlag[]): [what: string, hint: string] {
  if (!word.startsWith('-')) {
    return [`"${word}" is one word too many`, 'Quotes keep the words of one value together'];
  }
  const nearest = nearestOf(
    word.replace(/^-+/, ''),
    flags.map(({ name }) => name.replace(/^-+/, '')),
  );
  const dashes = '--';
  const hint = nearest === undefined ? 'Leave it out' : `Did you mean ${dashes}${nearest}?`;
  return [`the trainer has no flag ${word}`, hint];
}

function valueHint(flag: TrainerFlag): string {
  const words = flag.choices.length > 0 ? anyOf(flag.choices) : valueWords(flag);
  return words === '' ? 'Write it after the flag' : `Give ${words}`;
}

const anyOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words[words.length - 1] ?? ''}`;

function holds({ value, range }: TrainerFlag, text: string): boolean {
  const bounds = boundsOf(range);
  if (!bounds) return true;
  const whole = value !== 'FLOAT';
  if (!(whole ? /^-?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/).test(text)) return false;
  if (whole) {
    // More digits than a number of JavaScript keeps.
    const [number, least, most] = [BigInt(text), BigInt(bounds.least), BigInt(bounds.most)];
    return number >= least && number <= most;
  }
  const [number, least, most] = [Number(text), Number(bounds.least), Number(bounds.most)];
  const above = bounds.leastLeftOut ? number > least : number >= least;
  return above && (bounds.mostLeftOut ? number < most : number <= most);
}

interface Bounds {
  least: string;
  leastLeftOut: boolean;
  most: string;
  mostLeftOut: boolean;
}

/** `1..1024`, `>0..86400`, `0..<1`. */
function boundsOf(range: string | undefined): Bounds | undefined {
  const found = /^(>?)([^.>]+(?:\.\d+)?)\.\.(<?)(\S+)$/.exec(range ?? '');
  if (!found) return undefined;
  const [, above = '', least = '', below = '', most = ''] = found;
  return { least, leastLeftOut: above !== '', most, mostLeftOut: below !== '' };
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.indexOf('=');
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
