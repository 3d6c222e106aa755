// Where things are: the repository, the user's cache, and what is built into which folder.
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'trainyard');
export const build = join(root, 'build');
/** A link to the toolchain in the cache, so that CMakePresets.json can name fixed paths. */
export const toolchainLink = join(build, 'toolchain');
