// Paths of nodes. A node is Linux, so its paths are POSIX ones, whatever this machine is. They are
// of a type of their own, so that the compiler refuses a path of this machine where one of a node
// is wanted; the functions of `node:path` give a plain string, which is no such path.
import { posix } from 'node:path';
import { UserError } from './errors.js';

declare const brand: unique symbol;

/** A path as a node reads it: absolute, or beginning with `~`, which is the home folder there. */
export type NodePath = string & { readonly [brand]: 'NodePath' };

const branded = (path: string): NodePath => path as NodePath;

/** As a node named it, or as it was kept since. */
export const pathFromNode = branded;

/** Of what a user or a program wrote. UserError (usage) for a path that only Windows knows. */
export function nodePath(text: string): NodePath {
  if (!isOfWindows(text)) return branded(text);
  throw new UserError('usage', `${text} is a path of Windows, and a path of a node is wanted`, {
    kind: 'nodePath',
  });
}

/** `C:\…`, `C:/…`, `\\server\share`. */
const isOfWindows = (text: string): boolean => /^(?:[A-Za-z]:[\\/]|\\\\)/.test(text);

/** A path of this machine, where this machine is the node. */
export const pathOfThisNode = (path: string): NodePath => nodePath(path);

/** `base` and `parts` as one path, with `.` and `..` resolved. */
export const join = (base: NodePath, ...parts: string[]): NodePath => branded(posix.join(base, ...parts));

/** The folder that a path lies in. */
export const dirname = (path: NodePath): NodePath => branded(posix.dirname(path));

/** The last part: a name, no path. */
export const basename = (path: string): string => posix.basename(path);

/** Whether a path begins with a slash. A path from `~` does not. */
export const isAbsolute = (path: string): path is NodePath => posix.isAbsolute(path);

/** Whether it begins at the home folder. */
export const isInHome = (path: string): path is NodePath => path === '~' || path.startsWith('~/');

/** `path` with `~` replaced by the node's home folder. */
export const withHome = (home: NodePath, path: NodePath): NodePath =>
  isInHome(path) ? join(home, path.slice(1)) : path;

/** `path` against a folder of the node, which may be `~`. UserError (usage) as for `nodePath`. */
export function resolve(base: NodePath, path: string): NodePath {
  const given = nodePath(path);
  if (isInHome(given) || isAbsolute(given)) return given;
  return isInHome(base) ? join(base, given) : branded(posix.resolve(base, given));
}
