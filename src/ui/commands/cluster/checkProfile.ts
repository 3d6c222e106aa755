// Check Profile.
import type { ProfileArgument } from '../../../contributions.js';
import { isCancelled } from '../../../core/base/errors.js';
import { errorWords } from '../../remedies.js';
import { pickProfile } from '../pick.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';

export async function checkProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Check Profile');
  if (!session) return;
  const { profile } = session;
  ui.checks.show(profile, { kind: 'checking' });
  try {
    const results = await withProgress(`Checking ${profile.name}`, (progress) => session.check(progress));
    ui.checks.show(profile, { kind: 'done', results, at: new Date() });
  } catch (error) {
    const message = isCancelled(error) ? 'The check was given up.' : errorWords(error);
    ui.checks.show(profile, { kind: 'failed', message });
    throw error;
  }
}
