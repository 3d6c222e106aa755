// Copy to All Nodes.
import * as vscode from 'vscode';
import type { ProfileArgument } from '../../../contributions.js';
import { nodePath } from '../../../core/base/nodePath.js';
import { plural } from '../../figureText.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { dialogStart } from '../../workspace/workspace.js';
import { pickCluster } from './pickCluster.js';

export async function copyToAll(ui: Ui, given?: ProfileArgument): Promise<void> {
  const cluster = await pickCluster(ui, given, 'Copy to All Nodes');
  if (!cluster) return;
  const { machine, session } = cluster;
  const title = `Copy to All Nodes of ${session.profile.name}`;
  const picked = await vscode.window.showOpenDialog({
    title,
    canSelectFolders: true,
    canSelectFiles: true,
    openLabel: 'Copy',
    ...dialogStart(),
  });
  const from = picked?.[0]?.fsPath;
  if (from === undefined) return;
  const to = await vscode.window.showInputBox({
    title,
    prompt: 'Where to, on each node. ~/ is its home folder',
    value: `~/${from.split(/[/\\]/).at(-1) ?? 'data'}`,
    ignoreFocusOut: true,
  });
  if (to === undefined) return;
  const files = await withProgress(`Copying ${from}`, (progress) =>
    machine.copy(machine.nodes, from, nodePath(to), progress),
  );
  void vscode.window.showInformationMessage(
    `${plural(files, 'file')} copied to ${to} on ${plural(machine.nodes.length, 'node')}.`,
  );
}
