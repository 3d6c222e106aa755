// Show Checkpoints of a run.
import * as vscode from 'vscode';
import { viewIds, type RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function selectRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Show Checkpoints');
  if (!run) return;
  await ui.checkpoints.choose(run);
  await vscode.commands.executeCommand(`${viewIds.checkpoints}.focus`);
}
