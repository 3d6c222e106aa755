// The machine that a profile stands for.
import { Questions } from './nodes/retry.js';
import { SlurmMachine } from './slurmMachine.js';
import { SshMachine } from './sshMachine.js';
import { LocalMachine } from './localMachine.js';
import { whyNotHere } from '../plan/whyNotHere.js';
import type { Logger } from '../base/log.js';
import type { Machine } from './nodes/machine.js';
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

/** Connects to nothing yet. UserError (preflight) where this machine cannot be a node. */
export function makeMachine(profile: Profile, options: MachineOptions): Machine {
  if (profile.kind === 'local') {
    const reason = whyNotHere();
    if (reason !== undefined) throw reason;
    return new LocalMachine(options);
  }
  const questions = new Questions(options.prompter);
  const transport = new LazyTransport(profile, { ...options, prompter: questions });
  const own = { ...options, profile, transport, questions };
  return profile.kind === 'slurm' ? new SlurmMachine(own) : new SshMachine(own);
}
