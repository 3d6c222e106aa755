// Download Checkpoint.
import * as vscode from 'vscode';
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { join } from '../../../core/base/nodePath.js';
import { downloadCheckpoint as bring, folderName } from '../../../core/checkpoints/download.js';
import { size } from '../../figureText.js';
import { runTitle } from '../runTitle.js';
import { showFolder } from '../showFolder.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { pickCheckpoint } from './pickCheckpoint.js';

/** One that was ended goes on where it was when the same folder is chosen again. */
export async function downloadCheckpoint(ui: Ui, given?: CheckpointArgument | RunArgument): Promise<void> {
  const chosen = await pickCheckpoint(ui, given, 'Download a Checkpoint');
  if (!chosen) return;
  const { run, checkpoint } = chosen;
  const picked = await vscode.window.showOpenDialog({
    title: `Download step ${checkpoint.step} of ${await runTitle(ui.services, run)}`,
    canSelectFolders: true,
    canSelectFiles: false,
    openLabel: 'Download Here',
  });
  const folder = picked?.[0]?.fsPath;
  if (folder === undefined) return;
  const { node } = await (await ui.services.backend()).machine(run.profile);
  const from = join(run.dir, checkpoint.path);
  const { path, bytes } = await withProgress('Download', (progress) =>
    bring(node, from, folder, { ...progress, name: folderName(run.id, from) }),
  );
  const show = 'Show Folder';
  const text = `${path} (${size(bytes)}): every file has the SHA-256 that its manifest names.`;
  if ((await vscode.window.showInformationMessage(text, show)) === show) {
    await showFolder(path);
  }
}
