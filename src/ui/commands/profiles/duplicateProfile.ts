// Duplicate Profile.
import type { ProfileArgument } from '../../../contributions.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { askName } from './askName.js';
import { save } from './saveProfile.js';

export async function duplicateProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Duplicate Profile');
  if (!session) return;
  const name = await askName(ui, `Duplicate ${session.profile.name}`, `${session.profile.name}-copy`);
  if (name !== undefined) await save(ui, { ...session.profile, name });
}
