// Experiment trackers for tests of the export, in the user's cache: never part of the product.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cache, root } from '../lib/paths.mjs';
import { capture, step } from '../lib/shell.mjs';

/** MLflow's client and server. */
export const mlflowPython = () => pinnedPython('mlflow', 'MLflow', 300);

/** W&B's own program. */
export const wandbPython = () => pinnedPython('wandb', 'W&B', 150);

/**
 * The folder of a virtual environment with what scripts/requirements pins, made once; or why there
 * is none: the machine's Python is another one than that of the pinned files, or the index was not
 * reached.
 * @param {string} name
 * @param {string} shown
 * @param {number} megabytes on disk
 * @returns {{ bin: string } | { missing: string }}
 */
function pinnedPython(name, shown, megabytes) {
  const requirements = join(root, `scripts/requirements/${name}.txt`);
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(cache, name, hash);
  const bin = join(folder, 'bin');
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return { bin };
  step(`${shown} (about ${megabytes} MB on disk, once)`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const words = ['-m', 'pip', 'install', '-q', '--require-hashes', '-r', requirements];
  const made = capture('python3', ['-m', 'venv', folder]);
  const filled = made.ok ? capture(join(bin, 'python'), words) : made;
  if (!filled.ok) return { missing: `${shown} could not be installed: ${filled.stderr.trim().slice(-300)}` };
  writeFileSync(whole, '');
  return { bin };
}
