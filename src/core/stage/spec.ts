// What is to be staged, as a person writes it.
import { UserError } from '../base/errors.js';
import { isAbsolute, isInHome, nodePath, type NodePath } from '../base/nodePath.js';

declare const brand: unique symbol;

/** `s3://BUCKET/PREFIX`, or the `http://` or `https://` address of a file. */
export type Address = string & { readonly [brand]: 'Address' };

/** A folder of one node, or what an address holds, and the folder that each node gets it in. */
export interface StageSpec {
  /** The host on which `from` lies, or which asks the address; undefined for the head. */
  host: string | undefined;
  from: NodePath | Address;
  to: NodePath;
}

/** What a copy takes from a node. */
export interface NodeSource extends StageSpec {
  from: NodePath;
}

const addressed = /^(?:s3|https?):\/\/[^\p{Cc}]+$/u;
/** The same, and `:PATH` behind it. */
const addressPair = /^((?:s3|https?):\/\/[^\p{Cc}]+):([/~][^:]*)$/u;
/** `SCHEME://…`, which `placed` would take for a host. */
const otherScheme = /^[a-z][a-z0-9+.-]*:\/\//iu;

/** Whether it is looked for outside of the cluster. */
export const isAddress = (from: string): from is Address => addressed.test(from);

/** `HOST:PATH` or `PATH`, where a host has no slash and no `~`. */
const placed = /^(?:([^/~:][^/:]*):)?([/~].*)$/su;
/** The same, and `:PATH` behind it. */
const pair = /^((?:[^/~:][^/:]*:)?[/~][^:]*):([/~][^:]*)$/su;

/** From what a profile or a command line names. UserError (usage). */
export function stageSpec({ from, to }: { from: string; to: string }): StageSpec {
  const spec = { ...sourceOf(from), to: nodePath(to) };
  if (isAbsolute(spec.to) || isInHome(spec.to)) return spec;
  throw new UserError('usage', `${to} is no absolute path of a node`, 'Write it with a leading / or ~/');
}

function sourceOf(from: string): Omit<StageSpec, 'to'> {
  if (isAddress(from)) return { host: undefined, from };
  if (otherScheme.test(from)) {
    throw new UserError('usage', `${from} cannot be read`, 'Name a folder, or s3://, http:// or https://');
  }
  const [, host, path] = placed.exec(from) ?? [];
  if (path !== undefined) return { host, from: nodePath(path) };
  const hint =
    'Write it with a leading / or ~/, behind HOST: where it does not lie on the head, or as s3:// or https://';
  throw new UserError('usage', `${from} is no absolute path of a node`, hint);
}

/**
 * What a copy takes from a node: `HOST:PATH`, where HOST is one of `hosts`. Undefined for a path of
 * this machine. UserError (usage).
 */
export function copySource(from: string, to: NodePath, hosts: readonly string[]): NodeSource | undefined {
  const host = hosts.find((name) => from.startsWith(`${name}:`));
  if (host === undefined) return undefined;
  const path = from.slice(host.length + 1);
  if (placed.test(path)) return { host, from: nodePath(path), to };
  throw new UserError('usage', `${path} is no absolute path of ${host}`, 'Write it with a leading / or ~/');
}

/** `FROM:TO`, as `parseStage` reads it. */
export const stageText = ({ host, from, to }: StageSpec): string =>
  `${host === undefined ? '' : `${host}:`}${from}:${to}`;

/** From `FROM:TO`. UserError (usage). */
export function parseStage(text: string): StageSpec {
  const [, from, to] = addressPair.exec(text) ?? pair.exec(text) ?? [];
  if (from !== undefined && to !== undefined) return stageSpec({ from, to });
  const hint = 'Write FROM:TO, each with a leading / or ~/: /shared/images:/scratch/images';
  throw new UserError('usage', `${text} does not name two folders`, hint);
}
