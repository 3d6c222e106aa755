// PyTorch for measurements, in the user's cache: never part of the product.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cache, root } from '../../lib/paths.mjs';
import { run, step } from '../../lib/shell.mjs';

const requirements = join(root, 'scripts/requirements/torch.txt');

/** Where the environment of these requirements is kept, and what says that it is complete. */
function kept() {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(cache, 'torch', hash);
  return { folder, python: join(folder, 'bin/python'), whole: join(folder, 'whole') };
}

/** The same where it is there already; undefined where it would have to be made. */
export function keptTorchPython() {
  const { python, whole } = kept();
  return existsSync(whole) ? python : undefined;
}

/**
 * A Python that imports torch: of the virtual environment `given` (else TRAINYARD_TORCH), or of one
 * that is made in the cache.
 */
export function torchPython(given = process.env['TRAINYARD_TORCH']) {
  if (given !== undefined) {
    const python = join(resolve(given), 'bin/python');
    if (existsSync(python)) return python;
    throw new Error(
      `${python} does not exist. Give --torch the folder of a virtual environment with PyTorch.`,
    );
  }
  const { folder, python, whole } = kept();
  if (existsSync(whole)) return python;
  step('PyTorch (about 5 GB on disk, once)');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  run('python3', ['-m', 'venv', folder]);
  run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-r', requirements]);
  writeFileSync(whole, '');
  return python;
}
