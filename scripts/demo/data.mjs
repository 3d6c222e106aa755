// The demo's images: drawn once into the user's cache.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, cache, root } from '../lib/paths.mjs';
import { run, step } from '../lib/shell.mjs';

/**
 * The editor's own demo command reads it too.
 * @type {{ images: string, epochs: number, flags: string[] }}
 */
export const recipe = JSON.parse(readFileSync(join(root, 'src/core/plan/demo.json'), 'utf8'));

export const trainer = join(build, 'native', 'release', 'node', 'bin', 'trainer');

/**
 * Returns the folder that holds train/ and validation/.
 * @param {{ images: string }} [of]
 */
export function prepareDemoData({ images } = recipe) {
  const folder = join(cache, 'demo', `shapes-${images}`);
  if (existsSync(join(folder, 'validation'))) return folder;
  step('drawing labelled JPEG images');
  run(trainer, ['prep', '--from', `demo:${images}`, '--to', folder], { stdio: ['ignore', 2, 2] });
  return folder;
}

/**
 * The training command line of the demo, without --run-dir.
 * @param {string} data
 * @param {string} epochs
 */
export function demoTraining(data, epochs) {
  const where = ['--data', join(data, 'train'), '--eval-data', join(data, 'validation')];
  return ['train', ...recipe.flags, ...where, '--epochs', epochs];
}
