// The workspace on this machine: its folder, and the presets and profiles that it keeps.
import * as vscode from 'vscode';
import { WorkspaceFile } from '../../core/presets/workspaceFile.js';
import { trustedFolder } from './trustedFolder.js';

/** Relative paths of this machine are read against it; the root folder where there is none. */
export function workspaceFolder(): string {
  const uri = vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri?.scheme === 'file' ? uri.fsPath : '/';
}

/** Where a dialog for files of this machine begins; the editor chooses where no folder is open. */
export function dialogStart(): { defaultUri?: vscode.Uri } {
  const uri = vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri?.scheme === 'file' ? { defaultUri: uri } : {};
}

/** Undefined where there is no folder of this machine, or nobody trusts it: a preset is a command. */
export function fileOfWorkspace(): WorkspaceFile | undefined {
  const folder = trustedFolder();
  return folder === undefined ? undefined : WorkspaceFile.in(folder);
}
