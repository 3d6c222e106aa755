// What could stand next in a command line, as a shell with good completion offers it.
import { valueWords } from './flagCheck.js';
import type { TrainerFlag } from './trainerHelp.js';

/** A word that could take the place of the line's last one. */
export interface Suggestion {
  word: string;
  /** What values it takes and which one it has by itself, in words; empty where there is nothing. */
  value: string;
  help: string;
}

/**
 * Of a command line of the trainer: its verb, flags that are not in it yet, or the values of the
 * flag that it ends in. Flags that begin with the last word stand before those that contain it.
 * Nothing for another program, whose flags nobody here knows.
 */
export function suggestions(commandLine: string, flags: readonly TrainerFlag[]): Suggestion[] {
  const [first = '', ...rest] = commandLine.trimStart().split(/\s+/);
  if (rest.length > 0) return first === 'train' ? flagSuggestions(rest.join(' '), flags) : [];
  const verb = { word: 'train', value: '', help: 'trains a network with the trainer of Trainyard' };
  return 'train'.startsWith(first) ? [verb] : [];
}

/** The same of flags alone, without the verb. */
function flagSuggestions(line: string, flags: readonly TrainerFlag[]): Suggestion[] {
  const words = line.split(/\s+/);
  const current = words.at(-1) ?? '';
  const used = new Set(words.slice(0, -1).map((word) => word.replace(/=.*/s, '')));
  const [inline, begun] = inlineValue(current);
  const before = flags.find(({ name }) => name === (inline ?? words.at(-2)));
  if (before?.value !== undefined && (inline !== undefined || !current.startsWith('--'))) {
    const prefix = inline === undefined ? '' : `${inline}=`;
    return before.choices
      .filter((choice) => choice.startsWith(begun))
      .map((choice) => ({
        word: `${prefix}${choice}`,
        value: choice === before.initial ? 'the default' : '',
        help: before.help,
      }));
  }
  const open = flags.filter(({ name }) => !used.has(name));
  const begin = open.filter(({ name }) => name.startsWith(current));
  const part = current.replace(/^-+/, '');
  const contain = part.length < 2 ? [] : open.filter(({ name }) => name.includes(part));
  return [...new Set([...begin, ...contain])].map((flag) => ({
    word: flag.name,
    value: flagWords(flag),
    help: flag.help,
  }));
}

/** `a whole number from 1 to 65536, by default 32`. */
function flagWords(flag: TrainerFlag): string {
  const values = flag.choices.length > 0 ? flag.choices.join(', ') : valueWords(flag);
  const initial = flag.initial === undefined ? '' : `by default ${flag.initial}`;
  return [values, initial].filter((part) => part !== '').join(', ');
}

/** `--name` and what is begun of its value, of a word `--name=va`. */
function inlineValue(word: string): [flag: string | undefined, begun: string] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [undefined, word] : [word.slice(0, at), word.slice(at + 1)];
}
