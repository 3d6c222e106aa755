// Train on This Folder: a folder of the explorer as data in the form of a new run.
import { statSync } from 'node:fs';
import * as vscode from 'vscode';
import type { FileArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { pathOfThisNode, type NodePath } from '../../../core/base/nodePath.js';
import { dataFlags } from '../../../core/cluster/dataFlags.js';
import { dialogStart } from '../../workspace/workspace.js';
import { uploadFolder } from '../cluster/uploadFolder.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { newRunLike } from './newRun.js';

const title = 'Train on This Folder';

/** To the nodes of a profile of SSH or Slurm it is copied first. UserError, Cancelled. */
export async function trainOnFolder(ui: Ui, given?: FileArgument): Promise<void> {
  const folder = given === undefined ? await askFolder() : pathOf(given);
  if (folder === undefined) return;
  const session = await pickProfile(ui, undefined, title);
  if (!session) return;
  const { kind, name } = session.profile;
  const path: NodePath | undefined =
    kind === 'local' ? pathOfThisNode(folder) : await uploadFolder(ui, name, folder);
  if (path === undefined) return;
  const words = ['train', ...(await dataFlags(await session.machine(), path))];
  await newRunLike(ui, { profile: name, words });
}

async function askFolder(): Promise<string | undefined> {
  const what = { canSelectFiles: false, canSelectFolders: true };
  const options = { title, ...what, openLabel: title, ...dialogStart() };
  return (await vscode.window.showOpenDialog(options))?.[0]?.fsPath;
}

/** UserError (usage) for what is no folder of this machine. */
function pathOf({ scheme, fsPath }: FileArgument): string {
  if (scheme === 'file' && statSync(fsPath, { throwIfNoEntry: false })?.isDirectory() === true) return fsPath;
  throw new UserError('usage', `${fsPath} is no folder of this machine`, 'Choose a folder with images');
}
