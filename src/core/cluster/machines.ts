// The machine that a profile stands for.
import { Questions } from './retry.js';
import { SshMachine } from './sshMachine.js';
import { UserError } from '../base/errors.js';
import { LocalMachine } from './localMachine.js';
import { whyNotHere } from '../plan/whyNotHere.js';
import type { Logger } from '../base/log.js';
import type { Machine } from './machine.js';
import type { Profile } from '../contracts/profileSchema.js';
import { LazyTransport } from '../ssh/lazyTransport.js';
import type { Prompter } from '../ssh/base/transport.js';

/** What machines of every kind need. */
export interface MachineOptions {
  /** Folder of the running bundle: `bin/` and `share/` stand beside it. */
  bundleDir: string;
  /** Trainyard's own folder, with the host keys that the user trusts. */
  home: string;
  prompter: Prompter;
  logger: Logger;
  env?: NodeJS.ProcessEnv;
}

/** Connects to nothing yet. UserError (preflight) for a kind that this version cannot run on. */
export function makeMachine(profile: Profile, options: MachineOptions): Machine {
  if (profile.kind === 'local') {
    const reason = whyNotHere();
    if (reason !== undefined) throw reason;
    return new LocalMachine(options);
  }
  if (profile.kind === 'slurm') {
    const what = `profile ${profile.name} is of kind slurm, and this version runs on this machine and over SSH`;
    throw new UserError('preflight', what, 'Use a profile of kind local or ssh');
  }
  const questions = new Questions(options.prompter);
  const transport = new LazyTransport(profile, { ...options, prompter: questions });
  return new SshMachine({ ...options, profile, transport, questions });
}
