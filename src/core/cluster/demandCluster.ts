// What only a profile whose hosts are reached by SSH has.
import { UserError } from '../base/errors.js';
import type { Advice } from '../base/remedy.js';
import type { Machine } from './nodes/machine.js';
import type { Profile } from '../contracts/profileSchema.js';
import { SshMachine } from './sshMachine.js';

/** UserError (usage), with this hint, when the profile is this machine. */
export function demandCluster(machine: Machine, profile: Profile, hint: Advice): SshMachine {
  if (machine instanceof SshMachine) return machine;
  throw new UserError('usage', `profile ${profile.name} is this machine`, hint);
}
