// Folders of images that a workspace holds.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/**
 * The workspace, when it holds images apart for training; only when it is trusted, because it
 * suggests what to run.
 */
export function workspaceImages(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!vscode.workspace.isTrusted || folder?.scheme !== 'file') return undefined;
  return isFolder(join(folder.fsPath, 'train')) ? folder.fsPath : undefined;
}
