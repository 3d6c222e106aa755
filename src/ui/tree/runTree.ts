// The Runs view: every connected profile's runs, newest first; grouped when there is more than one
// profile with any. Runs of a report stand below a row of its own.
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import {
  clickedRunCommand,
  contextValues,
  viewIds,
  type CommandId,
  type RunArgument,
  type ReportArgument,
  type RunsArgument,
} from '../../contributions.js';
import { DisposableStore, type Disposable } from '../../core/base/lifecycle.js';
import { wasActive, type LastSeen, type LastSeenRun } from '../../core/follow/lastSeen.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { reportOf } from '../../core/model/measured.js';
import { filteredRun, filterOf, fits, isEmptyFilter, type RunFilter } from '../../core/model/runFilter.js';
import { isOver, isUnderWay } from '../../core/model/runStatus.js';
import type { Backend } from '../backend.js';
import type { ContextKeys } from '../contextKeys.js';
import type { ShownRuns } from '../lastRuns.js';
import type { Services } from '../services.js';
import { errorWords } from '../remedies.js';
import { plural } from '../figureText.js';
import { describeRun } from './describe.js';
import { describeLastGroup, describeLastRun } from './describeLast.js';
import { FadedRuns } from './fadedRuns.js';
import { treeItem } from './item.js';
import {
  describeLastReport,
  describeReport,
  reportKey,
  withReports,
  type OwnOrReport,
} from './reportRuns.js';
import { TreeRows, type TreeSource } from './treeRows.js';
import type { Reading } from './reading.js';

interface RunNode extends RunArgument {
  kind: 'run';
  overview: RunOverview;
}
/** As it was when it was seen last. */
interface LastRunNode extends RunArgument {
  kind: 'last';
  run: LastSeenRun;
}
interface GroupNode {
  kind: 'profile';
  profile: string;
}
/** All runs of a report, as they are or as they were. */
interface ReportNode extends RunsArgument, ReportArgument {
  kind: 'report';
  runs: readonly RunNode[] | readonly LastRunNode[];
}
const openClicked: vscode.Command = { command: clickedRunCommand, title: 'Open Dashboard' };
/** Milliseconds within which the editor draws rows anew, also on a slow machine. */
const drawingLimit = 5000;
export type RunTreeNode = RunNode | LastRunNode | ReportNode | GroupNode;

export class RunTree implements TreeSource<RunTreeNode>, vscode.Disposable {
  private readonly store = new DisposableStore();
  private readonly rows: TreeRows<RunTreeNode>;
  private readonly view: vscode.TreeView<RunTreeNode>;
  private backend: Backend | undefined;
  private watching: Disposable | undefined;
  /** All runs, and of them those that the filter takes. */
  private all: readonly ShownRuns[] = [];
  private groups: readonly ShownRuns[] = [];
  private line = '';
  private wanted: RunFilter = filterOf('');

  constructor(
    private readonly services: Services,
    private readonly keys: ContextKeys,
    reading: Reading,
  ) {
    this.rows = new TreeRows(this, reading);
    this.view = vscode.window.createTreeView(viewIds.runs, {
      treeDataProvider: this.rows,
      canSelectMany: true,
    });
    this.store.add(this.rows);
    this.store.add(this.view);
    this.store.add(vscode.commands.registerCommand(clickedRunCommand, () => this.openClicked()));
    this.store.add(vscode.window.registerFileDecorationProvider(new FadedRuns()));
    this.store.defer(() => this.watching?.dispose());
    this.store.add(
      this.view.onDidChangeVisibility(() => {
        this.watch();
      }),
    );
    this.store.add(
      services.onBackend((backend) => {
        this.backend = backend;
        this.watch();
      }),
    );
    this.store.add(
      services.lastRuns.onChange(() => {
        this.show(services.lastRuns.shown);
      }),
    );
    this.show(services.lastRuns.shown);
    if (this.view.visible) void services.backend();
  }

  /** What was typed, as `filterOf` reads it; empty where all runs are shown. */
  get filter(): string {
    return this.line;
  }

  /** UserError (usage) for a status that is none. */
  set filter(line: string) {
    this.wanted = filterOf(line);
    this.line = isEmptyFilter(this.wanted) ? '' : line.trim();
    this.show(this.all);
  }

  /** The run that is selected in the view. */
  get selected(): RunArgument | undefined {
    return this.view.selection.find((node) => node.kind === 'run');
  }

  /** Those of selected reports too, whose oldest run is the first. */
  get selectedRuns(): RunArgument[] {
    return this.view.selection.flatMap((node): readonly RunArgument[] => {
      if (node.kind === 'report') return [...node.runs].reverse();
      return node.kind === 'run' ? [node] : [];
    });
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
      item.command = openClicked;
      return item;
    }
    const group = this.groups.find(({ profile }) => profile === node.profile);
    if (node.kind === 'last') return this.lastItem(node, group?.last);
    if (node.kind === 'report') return reportItem(node, group?.last);
    if (group?.last) {
      const text = describeLastGroup(node.profile, group.last);
      return treeItem(node.profile, text, vscode.TreeItemCollapsibleState.Expanded);
    }
    const { runs, problem } = group ?? { runs: [], problem: undefined };
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
    if (node?.kind === 'report') return [...node.runs];
    if (node && node.kind !== 'profile') return [];
    if (node) return this.nodesOf(node.profile);
    const shown = this.groups.filter(
      ({ profile, runs, problem, last }) =>
        profile !== '' && (runs.length > 0 || problem !== undefined || (last?.runs.length ?? 0) > 0),
    );
    if (shown.length > 1 || shown.some(({ last }) => last)) {
      return shown.map(({ profile }) => ({ kind: 'profile', profile }));
    }
    return shown.flatMap(({ profile }) => this.nodesOf(profile));
  }

  /** Of a row of this tree. */
  textOf(row: object): string | undefined {
    return this.rows.textOf(row);
  }

  async refresh(): Promise<void> {
    await (await this.services.backend()).monitor.refresh();
  }

  dispose(): void {
    this.store.dispose();
  }

  private async openClicked(): Promise<void> {
    const node = await this.clickedNode();
    if (node?.kind !== 'run' && node?.kind !== 'last') return; // the row is gone
    const run: RunArgument = { profile: node.profile, id: node.id, dir: node.dir };
    const command: CommandId = 'trainyard.openDashboard';
    await vscode.commands.executeCommand(command, run);
  }

  /**
   * A click selects its row, and we hear of that before the command. But while rows are drawn anew,
   * the editor names none of them, and the selection is empty until it has asked for the rows.
   */
  private async clickedNode(): Promise<RunTreeNode | undefined> {
    const end = Date.now() + drawingLimit;
    while (this.view.selection.length === 0 && Date.now() < end) await delay(20);
    return this.view.selection[0];
  }

  private lastItem(node: LastRunNode, last: LastSeen | undefined): vscode.TreeItem {
    const { profile, id, dir, run } = node;
    const item = treeItem(`${profile}/last/${dir}`, describeLastRun(run, last));
    item.command = openClicked;
    item.resourceUri = FadedRuns.uri({ profile, id });
    return item;
  }

  private nodesOf(profile: string): RunTreeNode[] {
    const { runs = [], last } = this.groups.find((group) => group.profile === profile) ?? {};
    if (last) {
      const nodes = last.runs.map((run): LastRunNode => {
        return { kind: 'last', profile, id: run.id, dir: run.dir, run };
      });
      return below(
        profile,
        withReports(nodes, ({ run }) => run.report),
      );
    }
    const nodes = runs.map((overview): RunNode => {
      return { kind: 'run', profile, id: overview.entry.id, dir: overview.entry.dir, overview };
    });
    return below(
      profile,
      withReports(nodes, ({ overview }) => reportOf(overview.entry)),
    );
  }

  private watch(): void {
    if (!this.view.visible) {
      this.watching?.dispose();
      this.watching = undefined;
    } else if (this.backend) this.watching ??= this.backend.monitor.watch();
    else void this.services.backend();
  }

  private show(groups: readonly ShownRuns[]): void {
    this.all = groups;
    const isFiltered = this.line !== '';
    this.groups = isFiltered ? groups.map((group) => fitting(group, this.wanted)) : groups;
    const runs = groups.flatMap((group) => group.runs);
    const active = runs.filter(({ status }) => isUnderWay(status)).length;
    const were = groups.flatMap(({ last }) => last?.runs.filter(wasActive) ?? []).length;
    const words = [
      ...(active > 0 ? [`${plural(active, 'run')} under way`] : []),
      ...(were > 0 ? [`${plural(were, 'run')} under way when last seen; connect to see`] : []),
    ];
    this.view.badge = words.length > 0 ? { value: active + were, tooltip: words.join(', ') } : undefined;
    const problems = groups.filter(({ problem }) => problem !== undefined);
    const counts = [this.groups, groups].map(countOf);
    this.view.description = isFiltered ? `${this.line} · ${counts.join(' of ')}` : '';
    this.view.message = [
      ...problems.map(
        ({ profile, problem }) => `${profile === '' ? '' : `${profile}: `}${errorWords(problem)}`,
      ),
      ...(isFiltered && counts[0] === 0 ? [`No run fits the filter: ${this.line}`] : []),
    ].join('\n');
    this.keys.update({
      hasRuns: runs.length > 0,
      hasDebuggedRun: runs.some(({ entry, status }) => entry.run?.debug !== undefined && !isOver(status)),
      hasOwnRun: runs.some(({ entry, status }) => entry.run?.program === 'command' && !isOver(status)),
      hasSlurmRuns: runs.some(({ entry }) => entry.run?.slurm !== undefined),
      hasTwoRuns: runs.length > 1,
      areRunsFiltered: isFiltered,
      hasActiveRun: active > 0,
      hasOverRun: runs.some(({ status }) => isOver(status)),
      hasEarlyRun: runs.some(({ status }) => isOver(status) && status !== 'finished'),
    });
    this.rows.update();
  }
}

const countOf = (groups: readonly ShownRuns[]): number =>
  groups.reduce((sum, { runs, last }) => sum + runs.length + (last?.runs.length ?? 0), 0);

/** Of runs that are remembered only id, name and status are known. */
function fitting(group: ShownRuns, filter: RunFilter): ShownRuns {
  const { profile, runs, last } = group;
  const lastFits = ({ status, id, name }: LastSeenRun): boolean =>
    fits({ profile, status, id, name, tags: [], more: [] }, filter);
  return {
    ...group,
    runs: runs.filter(({ entry, status }) => fits(filteredRun(profile, entry, status), filter)),
    last: last && { ...last, runs: last.runs.filter(lastFits) },
  };
}

const below = (
  profile: string,
  rows: readonly (OwnOrReport<RunNode> | OwnOrReport<LastRunNode>)[],
): RunTreeNode[] => rows.map((row) => ('run' in row ? row.run : { kind: 'report', profile, ...row }));

/** Closed at first: what a report measures is looked at in its page. */
function reportItem({ profile, report, runs }: ReportNode, last: LastSeen | undefined): vscode.TreeItem {
  const current = runs.flatMap((node) => (node.kind === 'run' ? [node.overview] : []));
  const before = runs.flatMap((node) => (node.kind === 'last' ? [node.run] : []));
  const text =
    current.length > 0
      ? describeReport(profile, report, current)
      : describeLastReport(profile, report, before, last);
  const id = `${profile}/report/${reportKey(report)}`;
  return treeItem(id, text, vscode.TreeItemCollapsibleState.Collapsed);
}
