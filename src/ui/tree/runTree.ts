// The Runs view: the local profile's runs, looked at again and again while the view is visible.
import * as vscode from 'vscode';
import { viewIds, type RunArgument } from '../../contributions.js';
import type { Disposable } from '../../core/lifecycle.js';
import { errorText } from '../../core/errors.js';
import type { RunOverview } from '../../core/runs/overview.js';
import { isOver } from '../../core/runs/status.js';
import { describeRun } from './describe.js';
import { treeItem } from './item.js';

/** Looks at the runs; newest first. */
export type ReadRuns = () => Promise<RunOverview[]>;

export interface RunNode extends RunArgument {
  overview: RunOverview;
}

export class RunTree implements vscode.TreeDataProvider<RunNode>, vscode.Disposable {
  private readonly view: vscode.TreeView<RunNode>;
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly subscriptions: Disposable[];
  private nodes: RunNode[] = [];
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly readRuns: ReadRuns,
    private readonly interval: () => number,
  ) {
    this.view = vscode.window.createTreeView(viewIds.runs, { treeDataProvider: this });
    this.subscriptions = [
      this.view,
      this.changes,
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) void this.refresh();
        else this.stop();
      }),
    ];
    if (this.view.visible) void this.refresh();
  }

  get runs(): readonly RunNode[] {
    return this.nodes;
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    return treeItem(node.dir, describeRun(node.overview));
  }

  getChildren(node?: RunNode): RunNode[] {
    return node ? [] : this.nodes;
  }

  /** Looks now; calls that come while one is under way share it. */
  refresh(): Promise<void> {
    this.stop();
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
      this.stop();
      if (this.view.visible) this.timer = setTimeout(() => void this.refresh(), this.interval());
    });
    return this.reading;
  }

  dispose(): void {
    this.stop();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private async read(): Promise<void> {
    try {
      const overviews = await this.readRuns();
      this.nodes = overviews.map((overview) => ({
        id: overview.entry.id,
        dir: overview.entry.dir,
        overview,
      }));
      const active = this.nodes.filter(({ overview }) => !isOver(overview.status)).length;
      this.view.badge = active > 0 ? { value: active, tooltip: `${active} running` } : undefined;
      this.view.message = '';
    } catch (error) {
      this.view.message = errorText(error);
    }
    this.changes.fire(undefined);
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
