// A folder of one node of a machine put on others: for a run, by itself, or as a plain copy.
import { UserError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { basename, dirname, join, type NodePath } from '../../base/nodePath.js';
import type { Progress } from '../../base/progress.js';
import type { Profile } from '../../contracts/profileSchema.js';
import type { RelayNode } from '../../setup/relay.js';
import type { NativeSources } from '../../setup/sources.js';
import { fromAddress } from '../../stage/fromAddress.js';
import { isAddress, type NodeSource, type StageSpec } from '../../stage/spec.js';
import { stageOn, type Staged } from '../../stage/staging.js';

/** Where something is staged. */
export interface StagePlaces<N extends RelayNode> {
  profile: Profile;
  logger: Logger;
  /** The node of that name, the head for undefined. UserError (usage) for one that is not there. */
  nodeOf: (host: string | undefined) => N;
  nodes: readonly N[];
  /** Of what fills a folder from an address. Rejects as `findNativeSources`. */
  sources: () => Promise<NativeSources>;
}

/**
 * `hosts`: only these. `verify`: what is there is read and compared. `replace`: also files of others
 * are written over.
 */
export interface StageOptions {
  hosts?: readonly string[];
  verify?: boolean;
  replace?: boolean;
}

/** A folder that stays in step with its source. UserError (usage, connection, preflight), Cancelled. */
export async function stageFolder<N extends RelayNode>(
  { nodeOf, nodes, sources, ...shared }: StagePlaces<N>,
  { host, from: given, to }: StageSpec,
  { verify = false, replace = false }: StageOptions,
  progress: Progress,
): Promise<Staged> {
  const source = nodeOf(host);
  const from = isAddress(given) ? await fromAddress(source, given, to, await sources(), progress) : given;
  if (isWithin(from, to) || isWithin(to, from)) {
    const what = `${to} and ${from} are the same folder, or one lies in the other`;
    throw new UserError('usage', what, 'Name two folders');
  }
  const target = (isFolder: boolean): { to: NodePath } => {
    if (isFolder) return { to };
    throw new UserError('usage', `${from} on ${source.name} is a file`, 'Name a folder, or copy the file');
  };
  return stageOn({ ...shared, source, from, target, nodes, keep: true, replace, verify }, progress);
}

/** What a run asks for, on its nodes. Errors as for `stageFolder`. */
export async function stageForRun<N extends RelayNode>(
  places: StagePlaces<N>,
  spec: StageSpec | undefined,
  progress: Progress,
): Promise<void> {
  if (!spec) return;
  const { leftOutCount, leftOut } = await stageFolder(places, spec, {}, progress);
  if (leftOutCount === 0) return;
  places.logger.log('info', `${leftOutCount} names were not staged, among them ${leftOut.join(', ')}`);
}

/**
 * A file or a folder's content as `copyToAll` puts it, over what is there. Where it would come to lie
 * in its own place it is left out. UserError (usage, connection, preflight), Cancelled.
 */
export async function copyFromNode<N extends RelayNode>(
  { nodeOf, nodes, profile, logger }: StagePlaces<N>,
  { host, from, to }: NodeSource,
  progress: Progress,
): Promise<Staged> {
  const source = nodeOf(host);
  const target = (isFolder: boolean): { to: NodePath; as?: string } => {
    if (isFolder) return { to };
    return to.endsWith('/') ? { to, as: basename(from) } : { to: dirname(to), as: basename(to) };
  };
  const others = isWithin(from, to) || isWithin(to, from) ? nodes.filter((node) => node !== source) : nodes;
  if (others.length === 0) {
    throw new UserError('usage', `there is no host but ${source.name}, where it lies`, 'Name other hosts');
  }
  const more = { keep: false, replace: true, verify: false };
  return stageOn({ profile, logger, source, from, target, nodes: others, ...more }, progress);
}

const slashed = (path: NodePath): string => `${join(path).replace(/\/$/, '')}/`;
/** Whether a folder is, or lies in, another one. */
export const isWithin = (path: NodePath, folder: NodePath): boolean =>
  slashed(path).startsWith(slashed(folder));
