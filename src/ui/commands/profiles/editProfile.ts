// Edit Profile.
import type { FieldArgument } from '../../../contributions.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { openProfiles } from './openProfiles.js';
import { isOwn } from './saveProfile.js';

export async function editProfile(ui: Ui, given?: FieldArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Edit Profile', isOwn);
  if (session) await openProfiles(ui, { ...given, profile: session.profile.name });
}
