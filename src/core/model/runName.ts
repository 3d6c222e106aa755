// What a run is called.
import type { RunEntry } from '../contracts/agentApi.js';

/** `resnet20-1f2e` of `20261121-104500-resnet20-1f2e`. */
export function shortName(id: string): string {
  return /^\d{8}-\d{6}-(.+)$/.exec(id)?.[1] ?? id;
}

/** The name that somebody gave the run, else the short form of its id. */
export const runName = ({ id, about }: Pick<RunEntry, 'id'> & Partial<Pick<RunEntry, 'about'>>): string =>
  about && about.name !== '' ? about.name : shortName(id);
