// Check Profile.
import type { ProfileArgument } from '../../../contributions.js';
import { pickProfile } from '../pick.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { showChecks } from './checksDocument.js';

export async function checkProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Check Profile');
  if (!session) return;
  const { profile } = session;
  const results = await withProgress(`Checking ${profile.name}`, (progress) => session.check(progress));
  await showChecks(ui.documents, profile.name, results);
}
