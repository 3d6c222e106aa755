// The runs of a node, and which one a person means by a few letters.
import { homedir } from 'node:os';
import { resolve as resolveHere } from 'node:path';
import { UserError } from '../base/errors.js';
import { nearestOf } from '../base/nearest.js';
import type { Remedy } from '../base/remedy.js';
import { agentErrors, type RunEntry } from '../contracts/agentApi.js';
import { AgentError, type AgentClient } from './agentClient.js';
import { pathOfThisNode, resolve, withHome, type NodePath } from '../base/nodePath.js';

/** What else is known where a run is looked for, so that an error can say it. */
export interface RunsKnown {
  /** The profile whose runs are looked at. */
  profile: string;
  /** Runs of every profile, the newest first. */
  runs: readonly { id: string; profile: string; name?: string | undefined }[];
}

/**
 * What `text` names among `entries` (newest first): `last`, an id, the name that somebody gave a
 * run, a unique prefix or a unique part of an id. UserError (usage) when that is none of them, or
 * several; with `known` the error names a run of a like name, or profiles that have runs.
 */
export function matchRun<E extends Pick<RunEntry, 'id' | 'about'>>(
  text: string,
  entries: readonly E[],
  known?: RunsKnown,
): E {
  const [newest] = entries;
  if (text === 'last') {
    if (newest) return newest;
    throw noRuns(known);
  }
  const exact = entries.find(({ id }) => id === text);
  if (exact) return exact;
  const candidates = [
    entries.filter(({ about }) => about?.name === text),
    entries.filter(({ id }) => id.startsWith(text)),
    entries.filter(({ id }) => id.includes(text)),
  ];
  const matches = candidates.find((some) => some.length > 0) ?? [];
  const [first] = matches;
  if (first && matches.length === 1) return first;
  if (first) {
    const some = matches.slice(0, 5).map(({ id }) => id);
    const more = matches.length > some.length ? `, and ${matches.length - some.length} more` : '';
    throw new UserError(
      'usage',
      `"${text}" names ${matches.length} runs: ${some.join(', ')}${more}`,
      'Write more of the id',
    );
  }
  const what = `no run is named "${text}"`;
  const meant = meantRun(text, entries, known);
  if (meant) throw new UserError('usage', what, meant);
  const profile = known ? { profile: known.profile } : {};
  if (newest) throw new UserError('usage', what, { kind: 'chooseRun', newest: newest.id, ...profile });
  const none = noRuns(known);
  throw new UserError('usage', `${what}: ${none.what}`, none.hint);
}

/** UserError (usage) for a profile without runs. */
export function noRuns(known?: RunsKnown): UserError {
  if (!known) return new UserError('usage', 'there are no runs yet', { kind: 'startRun' });
  const { profile } = known;
  const others = [...new Set(known.runs.map((run) => run.profile))].filter((name) => name !== profile);
  if (others.length === 0) {
    return new UserError('usage', 'there are no runs yet', { kind: 'startRun', profile });
  }
  const remedy = { kind: 'startRun', profile, elsewhere: others.slice(0, mostProfiles) } as const;
  return new UserError('usage', `there are no runs on ${profile}`, remedy);
}

const mostProfiles = 5;

/** The run whose id, or name, is nearest: of those that were looked at, else of all known ones. */
function meantRun(
  text: string,
  entries: readonly Pick<RunEntry, 'id' | 'about'>[],
  known: RunsKnown | undefined,
): Extract<Remedy, { kind: 'meantRun' }> | undefined {
  const own = entries.flatMap(({ id, about }) => wordsOf(id, about?.name));
  const run = nearestOf(text, own);
  if (run !== undefined) return { kind: 'meantRun', run };
  const others = known?.runs.filter(({ profile }) => profile !== known.profile) ?? [];
  const word = nearestOf(
    text,
    others.flatMap(({ id, name }) => wordsOf(id, name)),
  );
  const other = others.find(({ id, name }) => word !== undefined && wordsOf(id, name).includes(word));
  return other && { kind: 'meantRun', run: other.id, profile: other.profile };
}

/** The name that somebody gave, an id, and the part of it that a person chose. */
const wordsOf = (id: string, name = ''): string[] => [
  ...(name === '' ? [] : [name]),
  ...[id, /^\d{8}-\d{6}-(.+)-[^-]+$/.exec(id)?.[1] ?? []].flat(),
];

/**
 * Finds runs below one workdir. Errors are those of `AgentClient.request`, and UserError (usage)
 * for a run that is not there.
 */
export class RunRegistry {
  constructor(
    private readonly client: () => Promise<AgentClient>,
    private readonly workdir: NodePath,
    /** Home folder on the node, when that is not this machine: then paths are read there. */
    private readonly home?: NodePath,
  ) {}

  /** Newest first. */
  async list(): Promise<RunEntry[]> {
    const client = await this.client();
    return (await client.request('run.list', { workdir: this.workdir })).runs;
  }

  /** RUN of the command line: as `matchRun`, or a run folder (anything with a slash). */
  async resolve(text: string, cwd = process.cwd(), known?: RunsKnown): Promise<RunEntry> {
    if (text === '') throw new UserError('usage', 'the name of a run is empty', 'Write an id, or last');
    if (text.includes('/') || text === '.' || text === '..') {
      const home = this.home ?? pathOfThisNode(homedir());
      if (this.home) return this.get(withHome(home, resolve(home, text)));
      const given = text.startsWith('~/') ? text : resolveHere(cwd, text);
      return this.get(withHome(home, pathOfThisNode(given)));
    }
    return matchRun(text, await this.list(), known);
  }

  private async get(dir: NodePath): Promise<RunEntry> {
    try {
      return await (await this.client()).request('run.get', { dir });
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== agentErrors.notFound) throw error;
      throw new UserError('usage', `${dir} is not a run folder`, 'A run folder has a run.json', {
        cause: error,
      });
    }
  }
}
