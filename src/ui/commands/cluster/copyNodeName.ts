// Copy Name of Node.
import * as vscode from 'vscode';
import type { HostArgument } from '../../../contributions.js';
import type { Ui } from '../ui.js';
import { pickNode } from './pickNode.js';

export async function copyNodeName(ui: Ui, given?: HostArgument): Promise<void> {
  const name = given?.host ?? (await pickNode(ui, undefined, 'Copy Name of Node'))?.name;
  if (name !== undefined) await vscode.env.clipboard.writeText(name);
}
