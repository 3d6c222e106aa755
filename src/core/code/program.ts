// Whether the program that a run starts is there: among the code that goes along, or in the folder
// in which it starts.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { basename, normalize } from 'node:path/posix';
import { UserError } from '../base/errors.js';
import type { CodeSnapshot } from './snapshot.js';
import { isSecret, ownIgnoreFile } from './rules.js';

/** What is known of the words of a program that starts a file. */
interface Interpreter {
  name: RegExp;
  /** Flags that take the next word. */
  withValue: ReadonlySet<string>;
  /** A flag after which no file is named. */
  noFile: RegExp;
  /** What the file looks like, where a word may as well be the value of a flag that is not known. */
  file?: RegExp;
}

const interpreters: readonly Interpreter[] = [
  {
    name: /^(?:python|pypy)[\d.]*$/,
    withValue: new Set(['-X', '-W', '-Q', '--check-hash-based-pycs']),
    noFile: /^-[bBdEiIOPqRsStuvx]*[cm]/,
  },
  {
    name: /^(?:bash|sh|dash|zsh)$/,
    withValue: new Set(['-o', '-O', '+o', '+O', '--rcfile', '--init-file']),
    noFile: /^-[A-Za-z]*[cs]$/,
  },
  {
    name: /^(?:torchrun|deepspeed)$/,
    withValue: new Set(),
    noFile: /^(?:-m|--module|--no[-_]python)$/,
    file: /\.py$/,
  },
  {
    name: /^(?:perl|ruby|node|Rscript|julia)$/,
    withValue: new Set(),
    noFile: /^(?:-[A-Za-z]*[eEp]|--eval|--print)/,
    file: /\.(?:[cm]?js|pl|rb|jl|[rR])$/,
  },
];

/** The file of the code folder that these words start, below the folder; undefined where none is named. */
export function programFile(words: readonly string[]): string | undefined {
  const [first = ''] = words;
  // The Python of a virtual environment on the nodes is an interpreter too.
  const isOnNode = first.startsWith('/') || first.startsWith('~');
  if (first.includes('/') && !isOnNode) return below(first);
  const file = interpreted(words);
  return file === undefined ? undefined : below(file);
}

/**
 * What people call these words: the file that an interpreter is given, else the first word; without
 * folders, and without what `env` sets before.
 */
export function programName(words: readonly string[]): string {
  const begin = words[0] === 'env' ? words.findIndex((word, at) => at > 0 && !/^\w+=/.test(word)) : 0;
  const own = words.slice(Math.max(0, begin));
  return basename(interpreted(own) ?? own[0] ?? '');
}

/** The file that an interpreter is given. */
function interpreted([first = '', ...others]: readonly string[]): string | undefined {
  const known = interpreters.find(({ name }) => name.test(basename(first)));
  if (!known) return undefined;
  for (let at = 0; at < others.length; ++at) {
    const word = others[at] ?? '';
    if (known.noFile.test(word)) return undefined;
    if (known.withValue.has(word)) ++at;
    else if (!/^[-+]/.test(word) && (known.file?.test(word) ?? true)) return word;
  }
  return undefined;
}

function below(word: string): string | undefined {
  if (word.startsWith('/') || word.startsWith('~')) return undefined;
  const path = normalize(word);
  return path.startsWith('../') ? undefined : path;
}

/**
 * The file of this machine's folder that the words start; undefined where they start another. Without
 * the folder as code it is not on the nodes, unless somebody put it there.
 */
export function programOfFolder(words: readonly string[], folder: string): string | undefined {
  const path = programFile(words);
  const isHere = path !== undefined && statSync(join(folder, path), { throwIfNoEntry: false }) !== undefined;
  return isHere ? path : undefined;
}

/** UserError (usage) where the words start a file below the folder of this machine that is not there. */
export function assertProgramHere(words: readonly string[], folder: string): void {
  const path = programFile(words);
  if (path === undefined || programOfFolder(words, folder) !== undefined) return;
  throw noSuchProgram(path, folder);
}

const noSuchProgram = (path: string, folder: string): UserError =>
  new UserError('usage', `there is no ${path} in ${folder}`, 'Name the program as seen from that folder');

/** UserError (usage) where the words start a file of the folder that is not sent. */
export function assertProgramSent(words: readonly string[], snapshot: CodeSnapshot): void {
  const path = programFile(words);
  if (path === undefined || isSent(path, snapshot.paths)) return;
  const { folder } = snapshot.record;
  if (statSync(join(folder, path), { throwIfNoEntry: false }) === undefined) {
    throw noSuchProgram(path, folder);
  }
  const hint = isSecret(path)
    ? `Add !${path} to ${ownIgnoreFile}`
    : `Take it out of .gitignore and ${ownIgnoreFile}, or name another program`;
  throw new UserError('usage', `${path}, which is to be started, is not among the files that are sent`, hint);
}

/** A folder is, too, where something in it is. A link may lead to it. */
function isSent(path: string, paths: ReadonlySet<string>): boolean {
  const parts = path.split('/');
  return (
    parts.some((_, index) => paths.has(parts.slice(0, index + 1).join('/'))) ||
    [...paths].some((other) => other.startsWith(`${path}/`))
  );
}
