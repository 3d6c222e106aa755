// How commands change the file of profiles.
import { UserError } from '../../../core/base/errors.js';
import { check, problemsText } from '../../../core/base/validation.js';
import { type Profile, profileSchema } from '../../../core/contracts/profileSchema.js';
import type { Ui } from '../ui.js';
import { openProfiles } from './openProfiles.js';

export const isOwn = ({ profile }: { profile: Profile }): boolean => profile.name !== 'local';

export async function save(ui: Ui, profile: Profile): Promise<void> {
  demandValid(profile);
  await (await ui.services.backend()).profiles().save(profile);
  await changed(ui);
  await openProfiles(ui, { profile: profile.name });
}

/** UserError (usage) naming what is wrong. */
export function demandValid(profile: Profile): void {
  const result = check(profileSchema, profile);
  if (!result.ok) throw new UserError('usage', problemsText(result.problems), 'Correct it');
}

export async function changed(ui: Ui): Promise<void> {
  (await ui.services.backend()).clusters.profilesChanged();
  await ui.clusters.refresh();
}
