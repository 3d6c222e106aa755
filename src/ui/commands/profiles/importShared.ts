// A profile that the workspace brings becomes the user's own, once he has looked at what it does.
import * as vscode from 'vscode';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import { workspacePlace } from '../../../core/presets/workspacePlace.js';
import { reviewOf } from '../../../core/profiles/shared.js';
import { fileOfWorkspace } from '../../workspace/workspace.js';
import type { Ui } from '../ui.js';
import { askName } from './askName.js';
import { save } from './saveProfile.js';

/** Of the workspace's state: the profiles that were offered last, as text. */
const offeredKey = 'offeredProfiles';

/** Those of the workspace. UserError (usage) where its file is wrong. */
export async function sharedProfiles(): Promise<Profile[]> {
  return (await fileOfWorkspace()?.profiles()) ?? [];
}

/** Asks which one, shows what it does, and saves it. UserError (usage). */
export async function importShared(ui: Ui, all: readonly Profile[]): Promise<void> {
  const found = await choose(all);
  if (!found) return;
  const file = 'Show File';
  const use = 'Use Profile';
  const answer = await vscode.window.showInformationMessage(
    `Use the profile ${found.name} of this workspace?`,
    {
      modal: true,
      detail: [...reviewOf(found), '', `What changes in ${workspacePlace} later changes nothing here.`].join(
        '\n',
      ),
    },
    use,
    file,
  );
  const path = fileOfWorkspace()?.path;
  if (answer === file && path !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(path));
  if (answer !== use) return;
  const name = await askName(ui, `Use the Profile ${found.name}`, found.name);
  if (name !== undefined) await save(ui, { ...found, name });
}

async function choose(all: readonly Profile[]): Promise<Profile | undefined> {
  const [only, ...others] = all;
  if (others.length === 0) return only;
  const items = all.map((profile) => ({
    label: profile.name,
    description: reviewOf(profile)[0] ?? '',
    profile,
  }));
  const title = 'Profiles of This Workspace';
  return (await vscode.window.showQuickPick(items, { title, placeHolder: 'Which one?' }))?.profile;
}

/**
 * Says that the workspace has profiles which the user has not, once for each state of its file.
 * UserError (usage).
 */
export async function offerShared(ui: Ui): Promise<void> {
  const own = new Set((await (await ui.services.backend()).profiles().list()).map(({ name }) => name));
  const all = (await sharedProfiles()).filter(({ name }) => !own.has(name));
  const memory = ui.services.context.workspaceState;
  const text = JSON.stringify(all);
  if (all.length === 0 || memory.get<string>(offeredKey) === text) return;
  await memory.update(offeredKey, text);
  const names = all.map(({ name }) => name).join(', ');
  const what = all.length === 1 ? `the profile ${names}` : `profiles: ${names}`;
  const review = 'Review…';
  const question = `This workspace brings ${what}. Nothing connects before you use it.`;
  const answer = await vscode.window.showInformationMessage(question, review);
  if (answer === review) await importShared(ui, all);
}
