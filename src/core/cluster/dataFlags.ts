// The trainer's flags for a folder of images on a node.
import { nodePath } from '../base/nodePath.js';
import type { Machine } from './nodes/machine.js';

/**
 * `--data …` and, where the folder has them apart, `--eval-data …`. UserError (preflight) when the
 * folder cannot be read.
 */
export async function dataFlags(machine: Machine, folder: string): Promise<string[]> {
  const { folders } = await machine.list(nodePath(folder));
  if (!folders.includes('train')) return ['--data', folder];
  const validation = ['validation', 'val', 'test'].find((name) => folders.includes(name));
  const below = (name: string): string => `${folder.replace(/\/$/, '')}/${name}`;
  return ['--data', below('train'), ...(validation === undefined ? [] : ['--eval-data', below(validation)])];
}
