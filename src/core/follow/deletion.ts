// Deleting a run: on the node that has it, and what it left on its other nodes.
import { AgentError, type AgentClient } from '../agent/agentClient.js';
import { eventOf } from '../agent/journal.js';
import { UserError } from '../base/errors.js';
import type { Machine } from '../cluster/nodes/machine.js';
import { agentErrors, type RunEntry } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import { givenWorkdir } from '../profiles/workdir.js';
import { join, type NodePath } from '../base/nodePath.js';
import { readLogLines } from './runLogs.js';

/**
 * The agent watches a folder of another host for half a minute before it believes that nobody
 * supervises it.
 */
const patience = 120_000;

/** What the deletion of a run left. */
export interface Deletion {
  /** What in the folder is not the run's, and stays; the first of them. */
  stays: string[];
  stayCount: number;
  /** Whether the folder itself is still there. */
  folderStays: boolean;
  /** Nodes on which the run's folder may still be: what, and the error. */
  unreached: { host: string; dir: NodePath; error: unknown }[];
}

/**
 * UserError (preflight) while it runs, naming where, and (usage) while Slurm has a job of it;
 * AgentError. A node that cannot be reached is no error: it is named in the answer. `everything`:
 * what the run's program wrote goes too, from folders that were made for the run.
 */
export async function deleteRunFolders(
  machine: Machine,
  profile: Profile,
  { id, dir, run }: Pick<RunEntry, 'id' | 'dir' | 'run'>,
  everything = false,
): Promise<Deletion> {
  const client = await machine.node.client();
  const others = await otherHosts(client, dir, run);
  if (run?.slurm !== undefined) await assertNotQueued(client, dir);
  const all = everything ? { everything } : {};
  const asked = client.request('run.delete', { dir, ...all }, { timeout: patience });
  const kept = await asked.catch((error: unknown) => {
    if (!(error instanceof AgentError) || error.code !== agentErrors.badState) throw error;
    const what = error.message.replace(/\. Attach to it, or stop it first\.?$/, '');
    if (what === error.message) throw error;
    throw new UserError('preflight', what, { kind: 'stopRun', run: id }, { cause: error });
  });
  const workdir = givenWorkdir(profile);
  const results = await Promise.all(
    others.map(async (host) => {
      try {
        const node = machine.nodes.find(({ name }) => name === host);
        if (!node) throw new Error(`profile ${profile.name} has no such host any more`);
        const remote = await node.node.client();
        const forget = { workdir, id, host, former: true, ...all } as const;
        const { stays, stayCount } = await remote.request('run.forget', forget);
        return { host, stays: stays.map((name) => `${host}: ${name}`), stayCount, error: undefined };
      } catch (error) {
        return { host, stays: [], stayCount: 0, error };
      }
    }),
  );
  return {
    stays: [...kept.stays, ...results.flatMap(({ stays }) => stays)],
    stayCount: kept.stayCount + results.reduce((sum, { stayCount }) => sum + stayCount, 0),
    folderStays: kept.folderStays,
    unreached: results.flatMap(({ host, error }) =>
      error === undefined ? [] : [{ host, dir: join(workdir, 'runs', id), error }],
    ),
  };
}

/** What would stay in the run's folder on its head without `everything`. */
export interface OwnFiles {
  /** `mine.pt, data/`; empty where nothing would. */
  names: string;
  /** Whether `everything` removes them: the folder was made for the run. */
  mayGo: boolean;
}

/** AgentError. */
export async function ownFilesOf(machine: Machine, dir: NodePath): Promise<OwnFiles> {
  const client = await machine.node.client();
  const { stays, stayCount, folderStays } = await client.request('run.delete', { dir, look: true });
  return { names: `${stays.join(', ')}${stayCount > stays.length ? ', …' : ''}`, mayGo: !folderStays };
}

/** Beside the head: the nodes of the run, its mirror, and what was its head before. */
async function otherHosts(client: AgentClient, dir: NodePath, run: RunEntry['run']): Promise<string[]> {
  // The nodes of an allocation see the disk of the login node.
  const [head, ...nodes] = run?.slurm === undefined ? (run?.nodes ?? []) : [];
  if (!head) return [];
  const hosts = new Set(nodes.map(({ host }) => host));
  if (run?.mirror !== undefined) hosts.add(run.mirror);
  const { files } = await client.request('run.get', { dir });
  const journal = { start: 0, size: files['events.jsonl'] ?? 0 };
  await readLogLines(client, join(dir, 'events.jsonl'), journal, ({ text }) => {
    const event = text.includes('head_changed') ? eventOf(text) : undefined;
    if (event?.kind === 'head_changed') for (const host of [event.from, event.to]) hosts.add(host);
  });
  hosts.delete(head.host);
  return [...hosts];
}

/** A job of Slurm would start in a folder that is gone. UserError (usage). */
async function assertNotQueued(client: AgentClient, dir: NodePath): Promise<void> {
  const { id, queue } = await client.request('run.get', { dir });
  if (queue === undefined || queue.kind === 'ended') return;
  throw new UserError('usage', `${id} is Slurm's job ${queue.job}, which is not over`, {
    kind: 'stopRun',
    run: id,
  });
}

/**
 * `3 entries that Trainyard did not write stay in /a/b: mine.pt, data/, …`, and a line for each node
 * that was not reached. `words`: of an error, in a user interface.
 */
export function deletionNotes(
  dir: NodePath,
  deletion: Deletion,
  words: (error: unknown) => string,
): string[] {
  const { stays, stayCount, folderStays, unreached } = deletion;
  const notes = unreached.map(
    (one) =>
      `${one.host} was not reached, so its part of the run, ${one.dir}, may still be there: ${words(one.error)}`,
  );
  if (stayCount > 0) {
    const more = stayCount > stays.length ? `, and ${stayCount - stays.length} more` : '';
    const what =
      stayCount === 1
        ? '1 entry that Trainyard did not write stays'
        : `${stayCount} entries that Trainyard did not write stay`;
    notes.unshift(`${what} in ${dir}: ${stays.join(', ')}${more}`);
  } else if (folderStays) notes.unshift(`the empty folder ${dir} stays, since it was not made for the run`);
  return notes;
}
