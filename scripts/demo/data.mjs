// The demo's images: drawn once into the user's cache.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, cache } from '../lib/paths.mjs';
import { run, step } from '../lib/shell.mjs';

export const trainer = join(build, 'native', 'release', 'node', 'bin', 'trainer');

/** Returns the folder that holds train/ and validation/. */
export function prepareDemoData(images = '5x400') {
  const folder = join(cache, 'demo', `shapes-${images}`);
  if (existsSync(join(folder, 'validation'))) return folder;
  step('drawing labelled JPEG images');
  run(trainer, ['prep', '--from', `demo:${images}`, '--to', folder], { stdio: ['ignore', 2, 2] });
  return folder;
}

/** The training command line of the demo, without --run-dir. */
export function demoTraining(data, epochs) {
  return [
    'train',
    '--model',
    'resnet20',
    '--data',
    join(data, 'train'),
    '--eval-data',
    join(data, 'validation'),
    '--batch-size',
    '32',
    '--epochs',
    epochs,
    '--lr',
    '0.05',
    '--lr-scale-by-world',
    '--warmup-epochs',
    '1',
    '--weight-decay',
    '5e-4',
    '--keep',
    '4',
  ];
}
