// A Python that has debugpy, in the user's cache: made once.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cache, root } from '../../scripts/lib/paths.mjs';

export function debugpyPython(): string {
  const requirements = join(root, 'scripts/requirements/debugpy.txt');
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(cache, 'debugpy', hash);
  const python = join(folder, 'bin/python');
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return python;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  execFileSync('python3', ['-m', 'venv', folder]);
  execFileSync(python, ['-m', 'pip', 'install', '-q', '--require-hashes', '-r', requirements]);
  writeFileSync(whole, '');
  return python;
}
