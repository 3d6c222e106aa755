// The workspace on this machine: its folder, and the presets that it keeps.
import * as vscode from 'vscode';
import { PresetFile } from '../core/presets/presetFile.js';

/** Relative paths of this machine are read against it; the root folder where there is none. */
export function workspaceFolder(): string {
  const uri = vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri?.scheme === 'file' ? uri.fsPath : '/';
}

/** Undefined where there is no folder of this machine, or nobody trusts it: a preset is a command. */
export function presetsOfWorkspace(): PresetFile | undefined {
  const uri = vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri?.scheme === 'file' && vscode.workspace.isTrusted ? new PresetFile(uri.fsPath) : undefined;
}
