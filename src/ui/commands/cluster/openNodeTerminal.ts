// Open Terminal on a Node.
import * as vscode from 'vscode';
import type { HostArgument } from '../../../contributions.js';
import { NodeTerminal } from '../../terminal/nodeTerminal.js';
import type { Ui } from '../ui.js';
import { pickCluster } from './pickCluster.js';

export async function openNodeTerminal(ui: Ui, given?: HostArgument): Promise<void> {
  const cluster = await pickCluster(ui, given, 'Open Terminal on a Node');
  if (!cluster) return;
  const names = cluster.machine.nodes.map(({ name }) => name);
  const only = names.length === 1 ? names[0] : undefined;
  const host =
    given?.host ?? only ?? (await vscode.window.showQuickPick(names, { title: 'Open Terminal on a Node' }));
  if (host === undefined) return;
  const [node] = cluster.machine.select([host]);
  const pty = new NodeTerminal(host, async (size) => {
    if (!node) throw new TypeError('select names a node or throws');
    return (await node.connection()).shell(size);
  });
  vscode.window.createTerminal({ name: host, pty, iconPath: new vscode.ThemeIcon('server') }).show();
}
