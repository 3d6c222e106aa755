// Open Terminal on a Node.
import * as vscode from 'vscode';
import type { HostArgument } from '../../../contributions.js';
import { NodeTerminal } from '../../terminal/nodeTerminal.js';
import type { Ui } from '../ui.js';
import { pickNode } from './pickNode.js';

export async function openNodeTerminal(ui: Ui, given?: HostArgument): Promise<void> {
  const options = await nodeTerminal(ui, given);
  if (options) vscode.window.createTerminal(options).show();
}

/** What the editor makes the terminal of. Undefined when no node was chosen. */
export async function nodeTerminal(
  ui: Ui,
  given?: HostArgument,
): Promise<vscode.ExtensionTerminalOptions | undefined> {
  const node = await pickNode(ui, given, 'Open Terminal on a Node');
  if (!node) return undefined;
  const pty = new NodeTerminal(node.name, async (size) => (await node.connection()).shell(size));
  return { name: node.name, pty, iconPath: new vscode.ThemeIcon('server') };
}
