// The Runs view: every connected profile's runs, newest first; grouped when there is more than one
// profile with any.
import * as vscode from 'vscode';
import { contextValues, viewIds, type CommandId, type RunArgument } from '../../contributions.js';
import { DisposableStore, type Disposable } from '../../core/base/lifecycle.js';
import type { ProfileRuns } from '../../core/follow/runsMonitor.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { isOver } from '../../core/model/runStatus.js';
import type { Backend } from '../backend.js';
import type { ContextKeys } from '../contextKeys.js';
import type { Services } from '../services.js';
import { errorWords } from '../remedies.js';
import { plural } from '../words.js';
import { describeRun } from './describe.js';
import { treeItem } from './item.js';

export interface RunNode extends RunArgument {
  kind: 'run';
  overview: RunOverview;
}
interface GroupNode {
  kind: 'profile';
  profile: string;
}
export type RunTreeNode = RunNode | GroupNode;

export class RunTree implements vscode.TreeDataProvider<RunTreeNode>, vscode.Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<RunTreeNode>;
  private backend: Backend | undefined;
  private watching: Disposable | undefined;
  private groups: readonly ProfileRuns[] = [];

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly services: Services,
    private readonly keys: ContextKeys,
  ) {
    this.view = vscode.window.createTreeView(viewIds.runs, {
      treeDataProvider: this,
      canSelectMany: true,
    });
    this.store.add(this.changes);
    this.store.add(this.view);
    this.store.defer(() => this.watching?.dispose());
    this.store.add(
      this.view.onDidChangeVisibility(() => {
        this.watch();
      }),
    );
    this.store.add(
      services.onBackend((backend) => {
        this.backend = backend;
        this.store.add(
          backend.monitor.onChange((groups) => {
            this.show(groups);
          }),
        );
        this.watch();
      }),
    );
    if (this.view.visible) void services.backend();
  }

  /** The run that is selected in the view. */
  get selected(): RunArgument | undefined {
    return this.view.selection.find((node) => node.kind === 'run');
  }

  get selectedRuns(): RunArgument[] {
    return this.view.selection.filter((node) => node.kind === 'run');
  }

  /** Fires with the run that somebody selected. */
  onSelect(use: (run: RunArgument) => void): Disposable {
    return this.view.onDidChangeSelection(({ selection }) => {
      const run = selection.find((node) => node.kind === 'run');
      if (run) use(run);
    });
  }

  getTreeItem(node: RunTreeNode): vscode.TreeItem {
    if (node.kind === 'run') {
      const item = treeItem(`${node.profile}/${node.dir}`, describeRun(node.overview));
      const run: RunArgument = { profile: node.profile, id: node.id, dir: node.dir };
      const command: CommandId = 'trainyard.openDashboard';
      item.command = { command, title: 'Open Dashboard', arguments: [run] };
      return item;
    }
    const { runs, problem } = this.groups.find(({ profile }) => profile === node.profile) ?? {
      runs: [],
      problem: undefined,
    };
    const active = runs.filter(({ status }) => !isOver(status)).length;
    const counts = active > 0 ? `${active} running` : plural(runs.length, 'run');
    const words = problem === undefined ? counts : errorWords(problem);
    return treeItem(
      node.profile,
      {
        label: node.profile,
        description: words,
        tooltip: words,
        icon: problem === undefined ? 'server-environment' : 'warning',
        contextValue: contextValues.runsOfProfile,
      },
      vscode.TreeItemCollapsibleState.Expanded,
    );
  }

  getChildren(node?: RunTreeNode): RunTreeNode[] {
    if (node?.kind === 'run') return [];
    if (node) return this.nodesOf(node.profile);
    const shown = this.groups.filter(({ runs, problem }) => runs.length > 0 || problem !== undefined);
    if (shown.length > 1) return shown.map(({ profile }) => ({ kind: 'profile', profile }));
    return shown.flatMap(({ profile }) => this.nodesOf(profile));
  }

  /** For `reveal`. */
  getParent(node: RunTreeNode): RunTreeNode | undefined {
    const grouped = this.groups.filter(({ runs }) => runs.length > 0).length > 1;
    return node.kind === 'run' && grouped ? { kind: 'profile', profile: node.profile } : undefined;
  }

  async refresh(): Promise<void> {
    await (await this.services.backend()).monitor.refresh();
  }

  dispose(): void {
    this.store.dispose();
  }

  private nodesOf(profile: string): RunNode[] {
    const runs = this.groups.find((group) => group.profile === profile)?.runs ?? [];
    return runs.map((overview) => ({
      kind: 'run',
      profile,
      id: overview.entry.id,
      dir: overview.entry.dir,
      overview,
    }));
  }

  private watch(): void {
    if (!this.view.visible) {
      this.watching?.dispose();
      this.watching = undefined;
    } else if (this.backend) this.watching ??= this.backend.monitor.watch();
    else void this.services.backend();
  }

  private show(groups: readonly ProfileRuns[]): void {
    this.groups = groups;
    const runs = groups.flatMap((group) => group.runs);
    const active = runs.filter(({ status }) => !isOver(status) && status !== 'unknown').length;
    this.view.badge =
      active > 0 ? { value: active, tooltip: `${plural(active, 'run')} under way` } : undefined;
    const problems = groups.filter(({ problem }) => problem !== undefined);
    this.view.message = problems
      .map(({ profile, problem }) => `${profile}: ${errorWords(problem)}`)
      .join('\n');
    this.keys.update({
      hasRuns: runs.length > 0,
      hasActiveRun: active > 0,
      hasOverRun: runs.some(({ status }) => isOver(status)),
    });
    this.changes.fire(undefined);
  }
}
