// What the views show, as plain data: for tests, and for whoever wants to read it without looking.
import type * as vscode from 'vscode';
import type { Ui } from './commands/ui.js';
import type { StatusBar } from './statusBar.js';

interface Item {
  label: string;
  description: string;
  contextValue: string;
  children: Item[];
}

export interface Snapshot {
  clusters: Item[];
  runs: Item[];
  checkpoints: Item[];
  statusBar: string | undefined;
  dashboards: { dir: string; visible: boolean; step: number | undefined }[];
  tensorboards: { dir: string; state: string; url: string | undefined }[];
}

interface Tree<T> {
  getTreeItem(node: T): vscode.TreeItem;
  getChildren(node?: T): T[];
}

export function snapshotOf(ui: Ui, statusBar: StatusBar): Promise<Snapshot> {
  return Promise.resolve({
    clusters: items(ui.clusters),
    runs: items(ui.runs),
    checkpoints: items(ui.checkpoints),
    statusBar: statusBar.text,
    dashboards: ui.dashboards.open.map(({ run, panel, lastStep }) => ({
      dir: run.dir,
      visible: panel.visible,
      step: lastStep,
    })),
    tensorboards: ui.tensorboards.open.map(({ run, kind, url }) => ({ dir: run.dir, state: kind, url })),
  });
}

function items<T>(tree: Tree<T>, node?: T): Item[] {
  return tree.getChildren(node).map((child) => {
    const item = tree.getTreeItem(child);
    return {
      label: typeof item.label === 'string' ? item.label : (item.label?.label ?? ''),
      description: typeof item.description === 'string' ? item.description : '',
      contextValue: item.contextValue ?? '',
      children: items(tree, child),
    };
  });
}
