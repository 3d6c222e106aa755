// A folder of a run, shown where that can be done.
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import type { NodePath } from '../../core/base/nodePath.js';
import { showFolder } from './showFolder.js';
import type { Ui } from './ui.js';

/** On a cluster: a terminal in the run's folder, or the path. */
export async function revealFolder(ui: Ui, run: RunArgument, path: NodePath): Promise<void> {
  const machine = await (await ui.services.backend()).machine(run.profile);
  if (machine.shell === undefined) {
    await showFolder(path);
    return;
  }
  const shell = 'Open Terminal';
  const chosen = await vscode.window.showInformationMessage(
    `The folder is on ${run.profile}: ${path}`,
    shell,
    'Copy Path',
  );
  if (chosen === 'Copy Path') await vscode.env.clipboard.writeText(path);
  if (chosen === shell) await ui.terminals.open(run);
}
