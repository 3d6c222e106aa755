// A flag of the trainer that stands before `--`, or where `--` was forgotten.
import { UserError } from '../core/base/errors.js';
import { trainerVerb } from '../core/plan/request/flags.js';
import { offeredFlags } from '../core/plan/request/trainerHelp.js';
import type { Grammar, UnknownFlag } from './args.js';

/**
 * The error that says where the flag belongs, else the same error. `argv`: what follows the verb.
 * `help`: what the trainer says of itself; undefined where there is no trainer to ask.
 */
export async function placedFlag(
  error: UnknownFlag,
  grammar: Grammar,
  argv: readonly string[],
  help: (words: readonly string[]) => Promise<string | undefined>,
): Promise<UserError> {
  if (grammar.trainer === undefined) return error;
  const named = argv.find((word) => trainerVerb([word]) !== undefined);
  const verb = named ?? 'train';
  const place = grammar.trainer === 'flags' && named === undefined ? '--' : `-- ${verb}`;
  const text = await help([verb, '--help']);
  if (text === undefined) {
    if (named === undefined || argv.includes('--')) return error;
    return new UserError('usage', error.what, `Flags of the trainer stand after "${place}"`);
  }
  if (!offeredFlags(verb, text).some(({ name }) => name === error.flag)) return error;
  return new UserError('usage', `${error.flag} is a flag of the trainer`, `Write it after "${place}"`);
}
