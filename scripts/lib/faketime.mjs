// A library that shows a program another time: the system's, else Debian's package unpacked into the user's cache without installing it.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from './paths.mjs';
import { capture, run } from './shell.mjs';

const packageName = 'libfaketime';
const triplet = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[process.arch];
/** For programs of several threads. */
const library = join('usr/lib', triplet ?? '', 'faketime/libfaketimeMT.so.1');

function unpack(root) {
  const temporary = `${root}.partial-${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  try {
    const got = capture('apt-get', ['download', '-q', packageName], { cwd: temporary });
    if (!got.ok)
      throw new Error(
        `apt-get download ${packageName} failed. Install the package ${packageName}, or run apt-get update.`,
      );
    for (const name of readdirSync(temporary)) {
      run('dpkg', ['-x', join(temporary, name), temporary]);
      rmSync(join(temporary, name));
    }
    if (!existsSync(root)) renameSync(temporary, root);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Its path, for LD_PRELOAD. An error names the package that is missing. */
export function ensureFaketime() {
  if (existsSync(join('/', library))) return join('/', library);
  const root = join(cache, 'faketime');
  if (!existsSync(join(root, library))) {
    rmSync(root, { recursive: true, force: true });
    unpack(root);
  }
  return join(root, library);
}
