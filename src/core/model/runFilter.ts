// Which runs of a list somebody wants to see: by status, by tags and by words.
import { UserError } from '../base/errors.js';
import type { RunEntry } from '../contracts/agentApi.js';
import { statusWords, type RunStatus } from './runStatus.js';

/** All that is given has to fit. Nothing given: every run fits. */
export interface RunFilter {
  /** One of these; empty for any. */
  statuses: readonly RunStatus[];
  /** All of these, without regard to capitals. */
  tags: readonly string[];
  /**
   * Each word of it stands in id, name, tags, notes, profile or command of the run, without regard
   * to capitals.
   */
  text: string;
}

/** What a filter looks at. */
export interface FilteredRun {
  profile: string;
  status: RunStatus;
  id: string;
  name: string;
  tags: readonly string[];
  /** Notes, the command, and what else may be searched. */
  more: readonly string[];
}

/** Whether the filter leaves nothing out. */
export const isEmptyFilter = ({ statuses, tags, text }: RunFilter): boolean =>
  statuses.length === 0 && tags.length === 0 && text.trim() === '';

/** What a filter looks at, of a run that is listed. */
export const filteredRun = (
  profile: string,
  { id, about, run }: Pick<RunEntry, 'id' | 'about' | 'run'>,
  status: RunStatus,
): FilteredRun => ({
  ...{ profile, status, id, name: about?.name ?? '', tags: about?.tags ?? [] },
  more: [about?.notes ?? '', ...(run?.argv ?? [])],
});

/** Whether the run is one of those that are wanted. */
export function fits({ profile, status, id, name, tags, more }: FilteredRun, filter: RunFilter): boolean {
  if (filter.statuses.length > 0 && !filter.statuses.includes(status)) return false;
  const own = tags.map((tag) => tag.toLowerCase());
  if (!filter.tags.every((tag) => own.includes(tag.toLowerCase()))) return false;
  const text = [id, name, ...tags, profile, ...more].join('\n').toLowerCase();
  return wordsOf(filter.text).every((word) => text.includes(word));
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

/**
 * `failed,stopped` as statuses. `what` is named where one is none. UserError (usage).
 */
export function statusesOf(text: string, what: string): RunStatus[] {
  return text.split(',').map((part) => {
    const found = statusWords.find((status) => status === part.trim().toLowerCase());
    if (found) return found;
    const hint = `Use one of: ${statusWords.join(', ')}`;
    throw new UserError('usage', `${what} names no status of a run: "${part.trim()}"`, hint);
  });
}

/**
 * What somebody typed in one line: `resnet50 status:failed,stopped tag:"lr 0.1"`. UserError (usage)
 * for a status that is none.
 */
export function filterOf(line: string): RunFilter {
  const filter = { statuses: [] as RunStatus[], tags: [] as string[], text: '' };
  for (const [word, key, value = ''] of line.matchAll(/(?:(status|tag):)?("[^"]*"|\S+)/gi)) {
    const bare = value.replace(/^"(.*)"$/, '$1').trim();
    if (bare === '') continue;
    if (key?.toLowerCase() === 'status') filter.statuses.push(...statusesOf(bare, 'the filter'));
    else if (key?.toLowerCase() === 'tag') filter.tags.push(...bare.split(',').map((tag) => tag.trim()));
    else filter.text += ` ${key === undefined ? bare : word}`;
  }
  return { ...filter, text: filter.text.trim() };
}
