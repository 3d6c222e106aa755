// Libraries that show a program another time: the system's libfaketime, or Debian's, and before it
// one that mends it.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cachedPackages, cachedTree, triplet } from '../lib/debPackages.mjs';
import { run } from '../lib/shell.mjs';

/** For programs of several threads. */
const library = join('usr/lib', triplet, 'faketime/libfaketimeMT.so.1');
const mendingSource = join(import.meta.dirname, 'faketimeSleep.c');

/** Their paths, for LD_PRELOAD. An error names the package that is missing. */
export function ensureFaketime() {
  const faketime = existsSync(join('/', library))
    ? join('/', library)
    : join(cachedPackages(['libfaketime']), library);
  return `${ensureMending()}:${faketime}`;
}

function ensureMending() {
  const hash = createHash('sha256').update(readFileSync(mendingSource)).digest('hex').slice(0, 8);
  const name = 'libfaketimesleep.so';
  const tree = cachedTree(`faketime-sleep-${hash}`, (folder) => {
    const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Werror'];
    run('cc', [...flags, '-o', join(folder, name), mendingSource, '-ldl']);
  });
  return join(tree, name);
}
