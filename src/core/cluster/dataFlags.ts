// The trainer's flags for a folder of images on a node.
import { nodePath } from '../base/nodePath.js';
import { halvesOf } from './halves.js';
import type { Machine } from './nodes/machine.js';

/**
 * `--data …` and, where the folder has them apart, `--eval-data …`. UserError (connection,
 * preflight) when the folder cannot be read.
 */
export async function dataFlags(machine: Machine, folder: string): Promise<string[]> {
  const { data, evalData } = await halvesOf(machine, nodePath(folder));
  return ['--data', data, ...(evalData === undefined ? [] : ['--eval-data', evalData])];
}
