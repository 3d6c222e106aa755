// The name, tags and notes of a run: what people call it, and write about it.
import { UserError } from '../../base/errors.js';
import type { RunAbout } from '../../contracts/runSchema.js';

/** As it was typed. What is left out stays as it was, or is empty in a new run. */
export interface TypedAbout {
  name?: string | undefined;
  /** A text with commas stands for several tags. */
  tags?: readonly string[] | undefined;
  notes?: string | undefined;
}

/** Characters of a name. */
export const longestName = 80;
/** Characters of a tag. */
export const longestTag = 40;
/** Tags of one run. */
const mostTags = 20;
/** Characters of notes. */
const longestNotes = 4000;

const nothing: RunAbout = { name: '', tags: [], notes: '' };

/**
 * What the run is called from now on; an empty text takes a name or notes away. `before`: what it
 * was called. UserError (usage) for what is too long, or cannot be a name or a tag.
 */
export function aboutOf(typed: TypedAbout, before: RunAbout = nothing): RunAbout {
  const name = typed.name?.trim() ?? before.name;
  const tags = typed.tags === undefined ? before.tags : tagsOf(typed.tags);
  const notes = typed.notes?.trim() ?? before.notes;
  if (name !== '' && !/[\p{L}\p{N}]/u.test(name)) {
    throw new UserError('usage', `the name ${name} has no letter or digit`, 'Choose another');
  }
  if (/\p{Cc}/u.test(name)) {
    throw new UserError('usage', 'the name of a run is one line', 'Write the rest into its notes');
  }
  assertLength('the name', name, longestName);
  for (const tag of tags) {
    if (/\p{Cc}/u.test(tag)) throw new UserError('usage', 'a tag is one line', 'Write it into the notes');
    assertLength(`the tag ${tag.slice(0, 20)}…`, tag, longestTag);
  }
  if (tags.length > mostTags) {
    throw new UserError('usage', `${tags.length} tags are more than ${mostTags}`, 'Leave some out');
  }
  assertLength('the notes', notes, longestNotes);
  return { name, tags, notes };
}

/** Undefined where nothing was typed that would be kept. UserError (usage) as `aboutOf`. */
export function givenAbout(typed: TypedAbout): RunAbout | undefined {
  const { name, tags, notes } = aboutOf(typed);
  return name === '' && tags.length === 0 && notes === '' ? undefined : { name, tags, notes };
}

/** Each tag once, in the order typed. */
export const tagsOf = (texts: readonly string[]): string[] => [
  ...new Set(
    texts.flatMap((text) => text.split(',').map((tag) => tag.trim().replace(/^#/, ''))).filter(Boolean),
  ),
];

function assertLength(what: string, text: string, most: number): void {
  const length = Array.from(text).length;
  if (length <= most) return;
  throw new UserError('usage', `${what} has ${length} characters, and ${most} are possible`, 'Shorten it');
}
