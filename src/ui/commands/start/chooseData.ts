// Folders of images that a workspace holds.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { trustedFolder } from '../../workspace/trustedFolder.js';

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/**
 * The workspace, when it holds images apart for training; only when it is trusted, because it
 * suggests what to run.
 */
export function workspaceImages(): string | undefined {
  const folder = trustedFolder();
  return folder !== undefined && isFolder(join(folder, 'train')) ? folder : undefined;
}
