// Reveal Run Folder.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function revealRunFolder(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Reveal Run Folder');
  if (!run) return;
  const machine = await (await ui.services.backend()).machine(run.profile);
  if (machine.shell !== undefined) {
    const shell = 'Open Terminal';
    const chosen = await vscode.window.showInformationMessage(
      `The run's folder is on ${run.profile}: ${run.dir}`,
      shell,
      'Copy Path',
    );
    if (chosen === 'Copy Path') await vscode.env.clipboard.writeText(run.dir);
    if (chosen === shell) await ui.terminals.open(run);
    return;
  }
  // Where the window is not on the user's own machine there is no file manager to show it in.
  if (vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined) {
    await vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(run.dir));
    return;
  }
  const open = 'Open in a New Window';
  const answer = await vscode.window.showInformationMessage(run.dir, open, 'Copy Path');
  if (answer === 'Copy Path') await vscode.env.clipboard.writeText(run.dir);
  if (answer !== open) return;
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(run.dir), {
    forceNewWindow: true,
  });
}
