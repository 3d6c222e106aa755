// Builds that are kept in the user's cache, so that a second clone of the same sources need not
// compile.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { step } from '../lib/shell.mjs';
import { isPartial, madeOnce } from './madeOnce.mjs';
import { isTestProgram } from './nativeTests.mjs';

/** Builds that a folder keeps, the newest ones. */
const most = 5;

/**
 * @param {string} kept
 * @param {string} binaries
 */
function restore(kept, binaries) {
  const now = new Date();
  utimesSync(kept, now, now);
  mkdirSync(binaries, { recursive: true });
  cpSync(kept, binaries, { recursive: true });
}

/**
 * @param {string} binaries
 * @param {string} folder
 * @param {string} name
 */
function store(binaries, folder, name) {
  madeOnce(join(folder, name), (temporary) =>
    cpSync(binaries, temporary, { recursive: true, filter: (path) => !isTestProgram(basename(path)) }),
  );
  /** @param {string} path */
  const age = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const byAge = readdirSync(folder)
    .filter((each) => !isPartial(each))
    .map((each) => join(folder, each))
    .sort((a, b) => age(b) - age(a));
  for (const path of byAge.slice(most)) rmSync(path, { recursive: true, force: true });
}

/**
 * Fills `binaries` from `folder` of the cache, or by `make`. `sources` is the hash of what they are
 * made from. A build during which a source changed is not kept: nobody knows what it was made from.
 * Returns whether they came from the cache.
 * @param {{ folder: string, sources: () => string, binaries: string, make: () => void }} build
 */
export function restoreOrMake({ folder, sources, binaries, make }) {
  const name = sources();
  const kept = join(folder, name);
  if (existsSync(kept)) {
    restore(kept, binaries);
    return true;
  }
  make();
  if (sources() === name) store(binaries, folder, name);
  else step('native: a source changed during the build, which is not kept therefore');
  return false;
}
