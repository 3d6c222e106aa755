// The demo: labelled images that the trainer draws, and a small network that learns them.
import { join, type NodePath } from '../base/nodePath.js';
import recipe from './demo.json' with { type: 'json' };

/** The folder of the drawn images below another one. */
export const demoFolder = (below: NodePath): NodePath => join(below, 'demo', `shapes-${recipe.images}`);

/** The part of them that is there once all are. */
export const lastDrawn = (folder: NodePath): NodePath => join(folder, 'validation');

/** The trainer's words that draw them. */
export const drawing = (folder: NodePath): string[] => [
  'prep',
  '--from',
  `demo:${recipe.images}`,
  '--to',
  folder,
];

/** The training command line of the demo; scripts/demo runs the same recipe without an editor. */
export function demoTraining(folder: NodePath): string[] {
  const where = ['--data', join(folder, 'train'), '--eval-data', lastDrawn(folder)];
  return ['train', ...recipe.flags, ...where, '--epochs', String(recipe.epochs)];
}
