// Folders of the user's cache that are made once, whole or not at all.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../lib/errors.mjs';

/**
 * A folder that is being made has the name of its maker: `NAME.partial-HOST-PID`. Earlier versions
 * left the host out.
 */
const partial = /\.partial-(?:(.+)-)?(\d+)$/;

/** @param {string} path */
export const isPartial = (path) => partial.test(basename(path));

const dayMs = 24 * 60 * 60 * 1000;

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH'; // else it belongs to another user
  }
}

/**
 * Whether nobody goes on with a partial folder. Several machines may share a cache. Of another one
 * nothing is known but when it wrote last.
 * @param {string} path
 */
function isLeft(path) {
  const [, host, pid] = partial.exec(basename(path)) ?? [];
  if (host === undefined || host === hostname()) return !isAlive(Number(pid));
  return Date.now() - statSync(path).mtimeMs > dayMs;
}

/**
 * Removes what makers left that were killed.
 * @param {string} folder
 */
function removeLeft(folder) {
  for (const path of readdirSync(folder).map((name) => join(folder, name))) {
    try {
      if (isPartial(path) && isLeft(path)) rmSync(path, { recursive: true, force: true });
    } catch {
      // What cannot be removed is in nobody's way.
    }
  }
}

/**
 * Makes `folder` where it is not there. `fill` gets an empty folder beside it, which becomes
 * `folder` once it is full. Where someone else made `folder` meanwhile, that one is taken.
 * @param {string} folder
 * @param {(temporary: string) => void} fill
 */
export function madeOnce(folder, fill) {
  mkdirSync(dirname(folder), { recursive: true });
  removeLeft(dirname(folder));
  if (existsSync(folder)) return;
  const temporary = `${folder}.partial-${hostname()}-${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary);
  try {
    fill(temporary);
    rename(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * @param {string} temporary
 * @param {string} folder
 */
function rename(temporary, folder) {
  try {
    renameSync(temporary, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
  }
}
