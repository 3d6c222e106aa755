// A Python that has the packages of a pinned file, in the user's cache: made once.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cache, root } from '../../scripts/lib/paths.mjs';

/** Its folder. */
function pinned(name: string): string {
  const requirements = join(root, `scripts/requirements/${name}.txt`);
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(cache, name, hash);
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  execFileSync('python3', ['-m', 'venv', folder]);
  const words = ['-m', 'pip', 'install', '-q', '--require-hashes', '-r', requirements];
  execFileSync(join(folder, 'bin/python'), words, { timeout: 300_000 });
  writeFileSync(whole, '');
  return folder;
}

export const debugpyPython = (): string => join(pinned('debugpy'), 'bin/python');

/** uv, alone in its folder of programs but for Python and pip. */
export const uvProgram = (): string => join(pinned('uv'), 'bin/uv');
