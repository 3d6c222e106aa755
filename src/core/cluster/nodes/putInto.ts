// Files and folders of this machine, put into a folder of nodes. What is not there yet appears
// whole or not at all.
import { randomBytes } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorText, UserError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { join, type NodePath } from '../../base/nodePath.js';
import type { Progress } from '../../base/progress.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { copyToAll, isFolderHere, runOnAll, type HostEnding } from './fanOut.js';
import type { SshNode } from './sshNode.js';

/** A program that moves or removes a folder needs no longer than this. Milliseconds. */
const longest = 60_000;

/**
 * Which of these names of this machine lie in `folder` of some node already. UserError
 * (connection).
 */
export async function namesThere(
  nodes: readonly SshNode[],
  sources: readonly string[],
  folder: NodePath,
): Promise<string[]> {
  const names = sources.map((source) => basename(resolve(source)));
  const found = await Promise.all(nodes.map((node) => node.look(names.map((name) => join(folder, name)))));
  return names.filter((_, at) => found.some((kinds) => kinds[at] !== 'missing'));
}

/**
 * Puts each source into `folder` of each node, which is made where it is missing. Files of a folder
 * that is there are replaced, each whole. UserError (usage, connection, preflight), Cancelled.
 * Returns how many files each node got.
 */
export async function putInto(
  context: { profile: Profile; logger: Logger },
  nodes: readonly SshNode[],
  sources: readonly string[],
  folder: NodePath,
  progress: Progress = {},
): Promise<number> {
  let files = 0;
  for (const source of sources) {
    const name = basename(resolve(source));
    const target = join(folder, name);
    const found = await Promise.all(nodes.map(async (node) => (await node.look([target]))[0] ?? 'missing'));
    const isFolder = await isFolderHere(source);
    const [other] = nodes.filter((_, at) => found[at] === (isFolder ? 'file' : 'folder'));
    if (other) {
      const what = `${target} is a ${isFolder ? 'file' : 'folder'} on ${other.name}, and ${name} is none`;
      throw new UserError('usage', what, 'Choose another folder, or give it another name');
    }
    const isNew = (_: SshNode, at: number): boolean => isFolder && found[at] === 'missing';
    const fresh = nodes.filter(isNew);
    const others = nodes.filter((node) => !fresh.includes(node));
    const counts: number[] = [];
    if (fresh.length > 0) counts.push(await putNew(context, fresh, source, folder, progress));
    if (others.length > 0) counts.push(await copyToAll(context, others, source, target, progress));
    files += Math.max(...counts);
  }
  return files;
}

/** A folder under another name, which gets its own once all of it is there. */
async function putNew(
  context: { profile: Profile; logger: Logger },
  nodes: readonly SshNode[],
  source: string,
  folder: NodePath,
  progress: Progress,
): Promise<number> {
  const name = basename(resolve(source));
  const partial = `.${name}.trainyard-${randomBytes(4).toString('hex')}`;
  try {
    const files = await copyToAll(context, nodes, source, join(folder, partial), progress);
    progress.signal?.throwIfAborted();
    const failed = (await within(nodes, folder, ['mv', '-T', '--', partial, name])).find(isFailed);
    if (failed) {
      const what = `${failed.host}: ${join(folder, name)} could not be put in its place`;
      throw new UserError('failed', `${what}: ${reasonOf(failed)}`, 'Try again');
    }
    return files;
  } catch (error) {
    await removePartial(context.logger, nodes, folder, partial);
    throw error;
  }
}

/** What still writes into it ends a moment after its channel. */
async function removePartial(
  logger: Logger,
  nodes: readonly SshNode[],
  folder: NodePath,
  partial: string,
): Promise<void> {
  let left = [...nodes];
  for (let tries = 0; tries < 4 && left.length > 0; tries++) {
    if (tries > 0) await pause(500);
    const endings = await within(left, folder, ['rm', '-rf', '--', partial]);
    left = left.filter((node) => endings.some((ending) => ending.host === node.name && isFailed(ending)));
  }
  for (const node of left) logger.log('warn', `${node.name}: ${join(folder, partial)} could not be removed`);
}

const isFailed = ({ code }: HostEnding): boolean => code !== 0;
const reasonOf = ({ code, signal, error }: HostEnding): string =>
  error === undefined ? `exit ${code ?? signal ?? 'unknown'}` : errorText(error);

/** Runs it in the folder of each node. */
async function within(
  nodes: readonly SshNode[],
  folder: NodePath,
  argv: readonly string[],
): Promise<HostEnding[]> {
  return runOnAll(nodes, argv, () => undefined, AbortSignal.timeout(longest), folder);
}
