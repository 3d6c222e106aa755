// Download Files of Run.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import type { Download } from '../../../core/checkpoints/download.js';
import { downloadFiles as bring } from '../../../core/checkpoints/downloadFiles.js';
import { leftOutText, type RunFiles } from '../../../core/cluster/nodes/runFiles.js';
import { plural, size } from '../../figureText.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import { runTitle } from '../runTitle.js';
import { showFolder } from '../showFolder.js';
import type { Ui } from '../ui.js';

/** One that was ended goes on where it was when the same path and folder are given again. */
export async function downloadFiles(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Download Files of a Run');
  if (!run) return;
  const name = await runTitle(ui.services, run);
  const path = (await askPath(`Download Files of ${name}`))?.trim();
  if (path === undefined) return;
  const picked = await vscode.window.showOpenDialog({
    title: `Download ${path} of ${name}`,
    canSelectFolders: true,
    canSelectFiles: false,
    openLabel: 'Download Here',
  });
  const folder = picked?.[0]?.fsPath;
  if (folder === undefined) return;
  const machine = await (await ui.services.backend()).machine(run.profile);
  const { found, got } = await withProgress('Download', async (progress) => {
    const found = await machine.runFiles(run.dir, path, progress);
    return { found, got: await bring(machine.node, found, folder, progress) };
  });
  await tell(found, got);
}

function askPath(title: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title,
    prompt: "A file or folder, by its path from the run's folder or from the folder code in it",
    placeHolder: 'outputs/model.pt',
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? 'Name a file or folder of the run' : undefined),
  });
}

async function tell(found: RunFiles, { path, bytes }: Download): Promise<void> {
  const what = found.isFolder ? `${plural(found.files.length, 'file')}, ${size(bytes)}` : size(bytes);
  const came = `${path} (${what}): every file has the SHA-256 that it had on the node`;
  const text = [came, leftOutText(found) ?? []].flat().join('; ');
  const show = 'Show Folder';
  if ((await vscode.window.showInformationMessage(`${text}.`, show)) !== show) return;
  await showFolder(found.isFolder ? path : dirname(path));
}
