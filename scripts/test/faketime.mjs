// A library that shows a program another time: the system's, or Debian's.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cachedPackages, triplet } from '../lib/debPackages.mjs';

/** For programs of several threads. */
const library = join('usr/lib', triplet, 'faketime/libfaketimeMT.so.1');

/** Its path, for LD_PRELOAD. An error names the package that is missing. */
export function ensureFaketime() {
  if (existsSync(join('/', library))) return join('/', library);
  return join(cachedPackages(['libfaketime']), library);
}
