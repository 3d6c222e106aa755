// Copy Path of Run Folder.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function copyRunFolder(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Copy Path of Run Folder');
  if (run) await vscode.env.clipboard.writeText(run.dir);
}
