// The folder of an own program that goes from the head to the other nodes before each start: how it
// is named.

/** Bytes; a path below it may have 1024. */
const longest = 512;
/** What the run itself, or its agents, keep in folders of the run's one. */
const ofTheRun: ReadonlySet<string> = new Set(['nodes', 'heartbeats', 'processes', 'mirror', 'former']);

/** Why a text names no such folder: as `must be …`, and what to do. */
interface ShareProblem {
  what: string;
  hint: string;
}

/** Without what a shell's completion and habit add: a leading `./` and a slash at the end. */
export const trimmedShare = (text: string): string =>
  text.replace(/^(?:\.\/+)+(?=[^/])/, '').replace(/\/+$/, '');

/** Of a text that `trimmedShare` gave; undefined where it names a folder below the run's one. */
export function shareProblem(folder: string): ShareProblem | undefined {
  const example = 'Write, say, checkpoints';
  const parts = folder.split('/');
  const [first = ''] = parts;
  if (folder === '') return { what: "must name a folder below the run's folder", hint: example };
  if (/\p{Cc}/u.test(folder)) {
    return { what: 'must not contain line breaks or other control characters', hint: example };
  }
  if (first === '' || first === '~') {
    return { what: `must be relative to the run's folder, not "${folder}"`, hint: example };
  }
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return { what: `must not have an empty part, "." or "..", as "${folder}" has`, hint: example };
  }
  if (first === 'code') {
    const hint = 'Name the folder as seen from where the program starts';
    return { what: `must leave out "code/", with which "${folder}" begins`, hint };
  }
  if (ofTheRun.has(first)) {
    const what = `must not begin with "${first}", where the run keeps files of its own`;
    return { what, hint: 'Let the program write to another folder' };
  }
  if (new TextEncoder().encode(folder).length > longest) {
    return { what: `must have at most ${longest} bytes`, hint: 'Name a shorter one' };
  }
  return undefined;
}
