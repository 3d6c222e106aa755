// Folders of this machine that a person named, made where they are missing.
import { constants } from 'node:fs';
import { access, lstat, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorText, systemCode, UserError } from './errors.js';

/**
 * Makes `folder`, an absolute path, and the folders above it that are missing. UserError
 * (preflight) where a file is in the way, or the folder cannot be made or written in.
 */
export async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  let parent = folder;
  while (!(await isFolder(parent, folder))) {
    missing.unshift(parent);
    parent = dirname(parent);
  }
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    // One by one: where a parent refuses new folders with ENOENT, as /proc does, Node's recursive
    // mkdir tries without an end.
    for (const path of missing) await mkdirOnce(path);
  } catch (error) {
    const what = missing.length === 0 ? 'cannot be written in' : 'cannot be made';
    throw new UserError('preflight', `${folder} ${what}: ${errorText(error)}`, otherFolder, { cause: error });
  }
}

const otherFolder = 'Choose a folder that you may write in';

/**
 * False where nothing has the name. UserError (preflight) for a file, or what cannot be looked at.
 */
async function isFolder(path: string, wanted: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      throw new UserError('preflight', `${wanted} cannot be made: ${errorText(error)}`, otherFolder, {
        cause: error,
      });
    }
    if (dirname(path) !== path && !(await isLink(path))) return false;
    throw new UserError('preflight', `${path} leads to nothing`, 'Name a folder', { cause: error });
  }
  throw new UserError('preflight', `${path} is a file`, 'Name a folder');
}

/** Whether a link has the name, whatever it leads to. */
async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

/** Another process may have made it meanwhile. */
async function mkdirOnce(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
  }
}
