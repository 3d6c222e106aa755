// MLflow for tests of the export, in the user's cache: never part of the product.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cache, root } from '../lib/paths.mjs';
import { capture, step } from '../lib/shell.mjs';

const requirements = join(root, 'scripts/requirements/mlflow.txt');

/**
 * The folder of a virtual environment with MLflow (about 300 MB, once); or why there is none: the
 * machine's Python is another one than that of the pinned files, or the index was not reached.
 * @returns {{ bin: string } | { missing: string }}
 */
export function mlflowPython() {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(cache, 'mlflow', hash);
  const bin = join(folder, 'bin');
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return { bin };
  step('MLflow (about 300 MB on disk, once)');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const words = ['-m', 'pip', 'install', '-q', '--require-hashes', '-r', requirements];
  const made = capture('python3', ['-m', 'venv', folder]);
  const filled = made.ok ? capture(join(bin, 'python'), words) : made;
  if (!filled.ok) return { missing: `MLflow could not be installed: ${filled.stderr.trim().slice(-300)}` };
  writeFileSync(whole, '');
  return { bin };
}
