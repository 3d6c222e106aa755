// Folders of images as flags of a training.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { nodePath } from '../../../core/base/nodePath.js';
import type { Machine } from '../../../core/cluster/machine.js';

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

/** `--data …` and, where the folder has them apart, `--eval-data …`. */
export async function dataFlags(machine: Machine, folder: string): Promise<string[]> {
  const { folders } = await machine.list(nodePath(folder));
  if (!folders.includes('train')) return ['--data', folder];
  const validation = ['validation', 'val', 'test'].find((name) => folders.includes(name));
  const below = (name: string): string => `${folder.replace(/\/$/, '')}/${name}`;
  return ['--data', below('train'), ...(validation === undefined ? [] : ['--eval-data', below(validation)])];
}
