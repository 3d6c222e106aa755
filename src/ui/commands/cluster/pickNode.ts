// The node that a command is for.
import * as vscode from 'vscode';
import type { HostArgument } from '../../../contributions.js';
import type { SshNode } from '../../../core/cluster/nodes/sshNode.js';
import type { Ui } from '../ui.js';
import { pickCluster } from './pickCluster.js';

/** The given one; else the only one; else the one that is chosen. Undefined when it was given up. */
export async function pickNode(
  ui: Ui,
  given: HostArgument | undefined,
  title: string,
): Promise<SshNode | undefined> {
  const cluster = await pickCluster(ui, given, title);
  if (!cluster) return undefined;
  const names = cluster.machine.nodes.map(({ name }) => name);
  const only = names.length === 1 ? names[0] : undefined;
  const host = given?.host ?? only ?? (await vscode.window.showQuickPick(names, { title }));
  return host === undefined ? undefined : cluster.machine.select([host])[0];
}
