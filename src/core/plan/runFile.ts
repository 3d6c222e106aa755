// A program in a file of the user's: which words start it, and from which folder.
import { UserError } from '../base/errors.js';

/**
 * How many processes start the file: one, one for each slot, or one launcher of PyTorch on each
 * node, which starts the processes of its node.
 */
export type Spread = 'one' | 'perSlot' | 'torchrun';

/** A file to run, and how. */
export interface FileRun {
  /** As it is called in the folder where the program starts, with `/` between folders. */
  file: string;
  /** Of the program. */
  args: readonly string[];
  spread: Spread;
  /** The program that runs Python files on the node. */
  python: string;
}

const interpreters = { py: 'python', sh: 'shell' } as const;

/** What runs a file, by the end of its name; undefined for a file that nothing here can run. */
export function languageOf(file: string): 'python' | 'shell' | undefined {
  const ending = /\.(py|sh)$/.exec(file)?.[1];
  return ending === 'py' || ending === 'sh' ? interpreters[ending] : undefined;
}

/** The ways to start a file. PyTorch's launcher starts Python files only. */
export const spreadsOf = (file: string): readonly Spread[] =>
  languageOf(file) === 'python' ? ['one', 'perSlot', 'torchrun'] : ['one', 'perSlot'];

/** For which slots or nodes there is a process. PyTorch's launcher reads the rest from its `PET_…`. */
export const perOf = (spread: Spread): { per?: 'slot' | 'node' } =>
  spread === 'one' ? {} : { per: spread === 'perSlot' ? 'slot' : 'node' };

/** The words of one process. UserError (usage) for a file that is no program. */
export function fileWords({ file, args, spread, python }: FileRun): string[] {
  const language = languageOf(file);
  if (language === undefined) {
    const hint = 'Choose a file whose name ends in .py or .sh';
    throw new UserError('usage', `${file} is neither a Python file nor a shell script`, hint);
  }
  // What begins with a dash would be taken for an option.
  const path = file.startsWith('-') ? `./${file}` : file;
  if (language === 'shell') return ['bash', path, ...args];
  if (spread !== 'torchrun') return [python, path, ...args];
  return [python, '-m', 'torch.distributed.run', path, ...args];
}

/** Whose word is a file that has to be there: Python's, or that of a shell. */
const runsFiles = /^(?:.*\/)?(?:python[\d.]*|bash|sh)$/;
/** Takes flags, and then the file. */
const launchers = ['torch.distributed.run', 'torch.distributed.launch'];

/**
 * The file that a command line runs, as it is written there, where that can be told: `train.py` of
 * `python3 -u train.py --data x`. Undefined where it cannot.
 */
export function fileOf([program = '', ...words]: readonly string[]): string | undefined {
  if (languageOf(program) !== undefined) return program.includes('/') ? program : undefined;
  if (/^(?:.*\/)?torchrun$/.test(program)) return firstFile(words);
  if (!runsFiles.test(program)) return undefined;
  const module = words.indexOf('-m');
  if (module < 0) return firstFile(words);
  const before = firstFile(words.slice(0, module));
  if (before !== undefined) return before;
  return launchers.includes(words[module + 1] ?? '') ? firstFile(words.slice(module + 2)) : undefined;
}

/** The first word that is no flag, where it is a file's; `-c` has a program in place of a file. */
function firstFile(words: readonly string[]): string | undefined {
  for (const word of words) {
    if (word === '-c' || word === '-') return undefined;
    if (!word.startsWith('-')) return languageOf(word) === undefined ? undefined : word;
  }
  return undefined;
}
