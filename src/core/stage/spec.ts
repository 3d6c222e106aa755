// What is to be staged, as a person writes it.
import { UserError } from '../base/errors.js';
import { isAbsolute, isInHome, nodePath, type NodePath } from '../base/nodePath.js';

/** A folder of one node, and the folder that each node gets it in. */
export interface StageSpec {
  /** The host on which `from` lies; undefined for the head. */
  host: string | undefined;
  from: NodePath;
  to: NodePath;
}

/** `HOST:PATH` or `PATH`, where a host has no slash and no `~`. */
const placed = /^(?:([^/~:][^/:]*):)?([/~].*)$/su;
/** The same, and `:PATH` behind it. */
const pair = /^((?:[^/~:][^/:]*:)?[/~][^:]*):([/~][^:]*)$/su;

/** From what a profile or a command line names. UserError (usage). */
export function stageSpec({ from, to }: { from: string; to: string }): StageSpec {
  const [, host, path] = placed.exec(from) ?? [];
  if (path === undefined) {
    const hint = 'Write it with a leading / or ~/, behind HOST: where it does not lie on the head';
    throw new UserError('usage', `${from} is no absolute path of a node`, hint);
  }
  const spec = { host, from: nodePath(path), to: nodePath(to) };
  if (isAbsolute(spec.to) || isInHome(spec.to)) return spec;
  throw new UserError('usage', `${to} is no absolute path of a node`, 'Write it with a leading / or ~/');
}

/**
 * What a copy takes from a node: `HOST:PATH`, where HOST is one of `hosts`. Undefined for a path of
 * this machine. UserError (usage).
 */
export function copySource(from: string, to: NodePath, hosts: readonly string[]): StageSpec | undefined {
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
  const [, from, to] = pair.exec(text) ?? [];
  if (from !== undefined && to !== undefined) return stageSpec({ from, to });
  const hint = 'Write FROM:TO, each with a leading / or ~/: /shared/images:/scratch/images';
  throw new UserError('usage', `${text} does not name two folders`, hint);
}
