// A profile that the command line makes.
import { UserError } from '../../../core/base/errors.js';
import { check, problemsText } from '../../../core/base/validation.js';
import { profileSchema, type Profile } from '../../../core/contracts/profileSchema.js';
import type { Context } from '../../context.js';

/**
 * Saves a profile whose name is free, and prints it with `--json`. UserError (usage) where the name
 * is taken, or where the profile is wrong: then `hint` says what to do.
 */
export async function saveNew(context: Context, profile: Profile, hint: string): Promise<void> {
  const checked = check(profileSchema, profile);
  if (!checked.ok) throw new UserError('usage', problemsText(checked.problems), hint);
  await assertFree(context, profile.name);
  await context.profiles.save(checked.data);
  if (context.json) context.output.json({ type: 'profile', ...checked.data });
}

/** UserError (usage) where there is a profile of that name. */
export async function assertFree(context: Context, name: string): Promise<void> {
  const known = (await context.profiles.list()).some((each) => each.name === name);
  if (known) throw new UserError('usage', `there is a profile ${name} already`, 'Choose another name');
}
