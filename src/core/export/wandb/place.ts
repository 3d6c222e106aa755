// Where the folder of a run is, and which run of W&B it becomes.
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCode } from '../../base/errors.js';

/** Of one run. */
export interface Place {
  folder: string;
  /** Of the run in W&B. */
  id: string;
}

/** What names the folder of a run. */
export interface RunOfOurs {
  /** Where W&B's folder `wandb` is, or is to be made. */
  parent: string;
  id: string;
  /** Milliseconds since the epoch. */
  started: number;
}

/** W&B refuses some characters, and ids that are longer. */
const mostCharacters = 100;

/** The `number`th run of W&B for a run: each takes the place of the one before it. */
export function placeOf(run: RunOfOurs, number = 1): Place {
  const id = `${run.id.replace(/[^\w.-]/g, '-').slice(0, mostCharacters)}${number === 1 ? '' : `-${number}`}`;
  const stamp = new Date(run.started)
    .toISOString()
    .replace(/\..*/, '')
    .replace(/[-:]/g, '')
    .replace('T', '_');
  return { folder: join(run.parent, 'wandb', `offline-run-${stamp}-${id}`), id };
}

/** The .wandb file of a run. */
export const fileOf = ({ folder, id }: Place): string => join(folder, `run-${id}.wandb`);

/** The newest place of a run that has a file, and its number. */
export async function findPlace(run: RunOfOurs): Promise<{ place: Place; number: number } | undefined> {
  let found: { place: Place; number: number } | undefined;
  const first = basename(placeOf(run).folder);
  for (const name of await namesIn(join(run.parent, 'wandb'))) {
    if (!name.startsWith(first)) continue;
    const ending = name.slice(first.length);
    const number = ending === '' ? 1 : Number(/^-(\d+)$/.exec(ending)?.[1] ?? 0);
    if (number <= (found?.number ?? 0)) continue;
    const place = placeOf(run, number);
    if ((await namesIn(place.folder)).includes(basename(fileOf(place)))) found = { place, number };
  }
  return found;
}

/** Empty for a folder that is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
