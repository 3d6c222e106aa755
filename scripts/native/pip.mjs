// Wheels that are pinned by hash.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/shell.mjs';

const always = ['-q', '--disable-pip-version-check', '--no-compile', '--require-hashes'];

/**
 * Installs what `requirements` pins, as part of making `folder`. pip unpacks below TMPDIR, which
 * lies in `folder` meanwhile: a small /tmp has no room for gigabytes.
 * @typedef {{ python: string, requirements: string, folder: string, words?: readonly string[] }} Pip
 * @param {Pip} options
 */
export function pipInstall({ python, requirements, folder, words = [] }) {
  const scratch = join(folder, '.pip');
  mkdirSync(scratch, { recursive: true });
  const env = { ...process.env, TMPDIR: scratch };
  run(python, ['-m', 'pip', 'install', ...always, ...words, '-r', requirements], { env });
  rmSync(scratch, { recursive: true, force: true });
}
