// Remove Profile.
import * as vscode from 'vscode';
import type { ProfileArgument } from '../../../contributions.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { changed, isOwn } from './saveProfile.js';

export async function removeProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Remove Profile', isOwn);
  if (!session) return;
  const { name } = session.profile;
  const detail = 'Its runs stay where they are, and go on.';
  const answer = await vscode.window.showWarningMessage(
    `Remove the profile ${name}?`,
    { modal: true, detail },
    'Remove',
  );
  if (answer !== 'Remove') return;
  await (await ui.services.backend()).profiles().remove(name);
  await changed(ui);
}
