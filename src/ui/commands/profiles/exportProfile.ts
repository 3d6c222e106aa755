// Export Profile: into the file of the workspace, or into one of its own, for others to import.
import * as vscode from 'vscode';
import type { ProfileArgument } from '../../../contributions.js';
import { WorkspaceFile } from '../../../core/presets/workspaceFile.js';
import { workspacePlace } from '../../../core/presets/workspacePlace.js';
import { withoutKeyFiles } from '../../../core/profiles/shared.js';
import { fileOfWorkspace } from '../../workspace/workspace.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { isOwn } from './saveProfile.js';

/** Key files stay out of it. UserError (usage) where the file is there and wrong. */
export async function exportProfile(ui: Ui, given?: ProfileArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Export Profile', isOwn);
  const file = session && (await chooseFile(session.profile.name));
  if (!file) return;
  const profile = withoutKeyFiles(session.profile);
  const { name, env = {} } = profile;
  if ((await file.profiles()).some((other) => other.name === name)) {
    const question = `There is a profile ${name} in ${file.path}. Replace it?`;
    const answer = await vscode.window.showWarningMessage(question, { modal: true }, 'Replace');
    if (answer === undefined) return;
  }
  await file.saveProfile(profile);
  await vscode.window.showTextDocument(vscode.Uri.file(file.path));
  const variables = Object.keys(env).join(', ');
  if (variables === '') return;
  const warning = `The profile ${name} sets variables: ${variables}. Take out what is a secret.`;
  void vscode.window.showWarningMessage(warning);
}

async function chooseFile(name: string): Promise<WorkspaceFile | undefined> {
  const own = fileOfWorkspace();
  if (own) {
    const here = {
      label: 'Into this workspace',
      description: `${workspacePlace}: who opens it may use the profile`,
    };
    const elsewhere = { label: 'Into a file…', description: '' };
    const title = `Export Profile ${name}`;
    const choice = await vscode.window.showQuickPick([here, elsewhere], { title, placeHolder: 'Where to?' });
    if (choice !== elsewhere) return choice && own;
  }
  const picked = await vscode.window.showSaveDialog({
    title: `Export Profile ${name}`,
    filters: { JSON: ['json'] },
    saveLabel: 'Export',
  });
  return picked && new WorkspaceFile(picked.fsPath);
}
