// The folder of a sweep that is there already.
import { UserError } from '../../core/base/errors.js';
import { readSweep } from '../../core/measure/sweepFolder.js';
import type { Sweep } from '../../core/sweep/record.js';

/** UserError (usage) where the folder has none. */
export async function sweepIn(folder: string): Promise<Sweep> {
  const found = await readSweep(folder);
  if (found !== undefined) return found;
  throw new UserError('usage', `${folder} has no sweep`, 'Name the folder with its sweep.json');
}
