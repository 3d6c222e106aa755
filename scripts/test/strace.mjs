// strace, which makes system calls of a running program fail: the system's, or Debian's.
import { join } from 'node:path';
import { cachedPackages, triplet } from '../lib/debPackages.mjs';
import { has } from '../lib/shell.mjs';

/** The program and the environment it needs. An error names the package that is missing. */
export function ensureStrace() {
  if (has('strace')) return { program: 'strace', env: {} };
  const root = cachedPackages(['strace', 'libunwind8']);
  return {
    program: join(root, 'usr/bin/strace'),
    env: { LD_LIBRARY_PATH: join(root, 'usr/lib', triplet) },
  };
}
