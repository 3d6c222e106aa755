// A rank that is to wait for a debugger: one of those that there are, of a program in Python.
import { basename } from 'node:path/posix';
import { UserError } from '../../base/errors.js';
import type { DebugRecord } from '../../contracts/debugSchema.js';

const python = /^python[\d.]*$/;
/** Options of Python that take the next word. */
const withValue: ReadonlySet<string> = new Set(['-X', '-W', '--check-hash-based-pycs']);
/** `-m` or `-c` written together with something else. */
const joined = /^-[bBdEiIOPqRsSuvx]*[cm]/;

/** The word that debugpy is to run in place of the interpreter; undefined where there is none. */
function targetOf(words: readonly string[]): Omit<DebugRecord, 'rank'> | undefined {
  const begin = words[0] === 'env' ? words.findIndex((word, at) => at > 0 && !/^\w+=/.test(word)) : 0;
  const program = basename(words[begin] ?? '');
  if (program === 'torchrun') return { target: begin, script: true };
  if (!python.test(program)) return undefined;
  for (let at = begin + 1; at < words.length; ++at) {
    const word = words[at] ?? '';
    if (word === '-m' || word === '-c') return at + 1 < words.length ? { target: at } : undefined;
    if (joined.test(word)) {
      throw new UserError('usage', `${word} is not understood for a debugger`, 'Write -m or -c by itself');
    }
    if (withValue.has(word)) ++at;
    else if (!word.startsWith('-')) return { target: at };
  }
  return undefined;
}

interface AskedDebug {
  /** The rank. */
  debug?: number | undefined;
  silenceTimeout?: number | undefined;
}

/** What the run's record says of it. UserError (usage) for what no debugger can attach to. */
export function debugOf(
  { debug: rank, silenceTimeout }: AskedDebug,
  words: readonly string[],
): DebugRecord | undefined {
  if (rank === undefined) return undefined;
  if (silenceTimeout !== undefined && silenceTimeout > 0) {
    const what = 'a rank that waits for a debugger is silent, so a limit of silence would end it';
    throw new UserError('usage', what, 'Leave the limit out');
  }
  const target = targetOf(words);
  if (target) return { rank, ...target };
  const what = `a debugger can attach to a script or module in Python alone, and "${words.join(' ')}" starts none`;
  throw new UserError('usage', what, 'Begin the command with python3 and a script, or with torchrun');
}

/** UserError (usage) where the rank that is to wait is none of `ranks`. */
export function assertDebuggedRank(
  request: { kind: string; debug?: DebugRecord | undefined },
  ranks: number,
): void {
  const rank = request.debug?.rank;
  if (rank === undefined || rank < ranks) return;
  const known = ranks === 1 ? 'its only rank is 0' : `its ranks are 0 to ${ranks - 1}`;
  throw new UserError('usage', `the run has no rank ${rank}: ${known}`, 'Name one of its ranks');
}
