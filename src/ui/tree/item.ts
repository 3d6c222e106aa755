// From words to the editor's tree item.
import * as vscode from 'vscode';
import type { ItemText } from './describe.js';

export function treeItem(
  id: string,
  text: ItemText,
  state = vscode.TreeItemCollapsibleState.None,
): vscode.TreeItem {
  const item = new vscode.TreeItem(text.label, state);
  item.id = id;
  item.description = text.description;
  item.tooltip = text.tooltip;
  item.iconPath = new vscode.ThemeIcon(
    text.icon,
    text.color === undefined ? undefined : new vscode.ThemeColor(text.color),
  );
  item.contextValue = text.contextValue;
  item.accessibilityInformation = { label: `${text.label}, ${text.description}` };
  return item;
}
