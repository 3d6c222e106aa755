// What a tool needs of the program that offers it, and how it finds the run that it is asked for.
import { UserError } from '../base/errors.js';
import type { Advice } from '../base/remedy.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import { bookedProfile, type RunBook } from '../profiles/runBook.js';
import type { ProfileStore } from '../profiles/store.js';

/** The program around the tools. It owns the machines. */
export interface ToolHost {
  readonly profiles: Pick<ProfileStore, 'contents' | 'get'>;
  readonly book: Pick<RunBook, 'profileOf'>;
  /** That a run was started. Never rejects: the run goes on also where it cannot be noted. */
  note(id: string, profile: string, name?: string): Promise<void>;
  /** Where relative paths of a run on this machine are read. */
  readonly cwd: string;
  /** Connected when it is not yet. UserError (connection). */
  machine(profile: Profile): Promise<Machine>;
  /** What to do about something, in the words of this program. */
  adviceText(advice: Advice): string;
}

/** What names a run. */
export interface RunWish {
  run: string;
  profile?: string | undefined;
}

/** A run, and where it lives. */
export interface FoundRun {
  profile: Profile;
  machine: Machine;
  entry: RunEntry;
}

/**
 * The run of this id or name, of the named profile or of the one that started it here, else of
 * `local`. A folder is no name here: a tool reaches the runs of profiles alone. UserError (usage).
 */
export async function findRun(host: ToolHost, { run, profile: named }: RunWish): Promise<FoundRun> {
  if (run.includes('/') || run === '.' || run === '..') {
    throw new UserError('usage', 'a run is named by its id here, not by a folder', 'Name its id');
  }
  const known = named ?? (await bookedProfile(host.book, run, await host.profiles.contents()));
  const profile = await host.profiles.get(known ?? 'local');
  const machine = await host.machine(profile);
  return { profile, machine, entry: await (await machine.registry(profile)).resolve(run, host.cwd) };
}

/** The same by its whole id, so that what was agreed to is what is done. UserError (usage). */
export async function findExactRun(host: ToolHost, wish: RunWish): Promise<FoundRun> {
  const found = await findRun(host, wish);
  if (found.entry.id === wish.run) return found;
  throw new UserError(
    'usage',
    `"${wish.run}" is not the whole id of a run`,
    `If that run is meant, its id is ${found.entry.id}`,
  );
}
