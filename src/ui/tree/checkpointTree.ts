// The Checkpoints view: those of the run that was chosen, or of the newest one.
import * as vscode from 'vscode';
import { contextValues, viewIds, type CheckpointArgument, type RunArgument } from '../../contributions.js';
import type { Checkpoint } from '../../core/contracts/checkpointSchema.js';
import { isCancelled } from '../../core/base/errors.js';
import { DisposableStore } from '../../core/base/lifecycle.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { runName } from '../../core/model/runName.js';
import { isOver } from '../../core/model/runStatus.js';
import type { Backend } from '../backend.js';
import type { ContextKeys } from '../contextKeys.js';
import type { Services } from '../services.js';
import { whole } from '../figureText.js';
import { riskText } from '../riskText.js';
import { describeCheckpoint, type ItemText } from './describe.js';
import { treeItem } from './item.js';
import { TreeRows, type TreeSource } from './treeRows.js';
import type { Reading } from './reading.js';
import { errorWords } from '../remedies.js';

interface CheckpointNode extends CheckpointArgument {
  kind: 'checkpoint';
  checkpoint: Checkpoint;
}
interface RiskNode extends RunArgument {
  kind: 'risk';
  text: string;
}
const riskLabel = 'at risk if killed now';
export type CheckpointTreeNode = CheckpointNode | RiskNode;

interface Listing {
  run: RunArgument;
  checkpoints: readonly Checkpoint[];
  free: number;
}

/** Of a run without checkpoints. */
const noneText = (run: RunOverview | undefined): string =>
  run && isOver(run.status) ? 'This run left no checkpoints.' : 'No checkpoints yet.';

export class CheckpointTree implements TreeSource<CheckpointTreeNode>, vscode.Disposable {
  readonly isDrawnTogether = true;
  private readonly store = new DisposableStore();
  private readonly rows: TreeRows<CheckpointTreeNode>;
  private readonly view: vscode.TreeView<CheckpointTreeNode>;
  private backend: Backend | undefined;
  private chosen: RunArgument | undefined;
  private listing: Listing | undefined;
  private listed = '';
  /** How many readings have begun: the newest one alone counts. */
  private readings = 0;

  constructor(
    private readonly services: Services,
    private readonly keys: ContextKeys,
    reading: Reading,
  ) {
    this.rows = new TreeRows(this, reading);
    this.view = vscode.window.createTreeView(viewIds.checkpoints, { treeDataProvider: this.rows });
    this.store.add(this.rows);
    this.store.add(this.view);
    this.store.add(
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) void this.refresh();
      }),
    );
    this.store.add(
      services.onBackend((backend) => {
        this.backend = backend;
        this.store.add(backend.monitor.onChange(() => void this.update()));
      }),
    );
  }

  /** The run whose checkpoints are shown. */
  get run(): RunArgument | undefined {
    return this.shown()?.argument;
  }

  /** The newest checkpoint that is shown. */
  get latest(): Checkpoint | undefined {
    return this.listing?.checkpoints.at(-1);
  }

  /** Shows this run's checkpoints from now on. */
  async choose(run: RunArgument): Promise<void> {
    this.chosen = { profile: run.profile, id: run.id, dir: run.dir };
    await this.refresh();
  }

  getTreeItem(node: CheckpointTreeNode, now = Date.now()): vscode.TreeItem {
    if (node.kind === 'risk') {
      return treeItem('risk', {
        label: riskLabel,
        description: node.text,
        tooltip: `${riskLabel}: ${node.text}`,
        icon: 'info',
        contextValue: contextValues.risk,
      });
    }
    return treeItem(`${node.dir}/${node.path}`, this.describe(node, node.checkpoint, now));
  }

  /** What a checkpoint of a run that is listed is called, and how good it is. */
  describe({ dir }: Pick<RunArgument, 'dir'>, checkpoint: Checkpoint, now = Date.now()): ItemText {
    const overview = this.backend?.monitor.all.find(({ run }) => run.entry.dir === dir)?.run;
    const { listing } = this;
    const marks = {
      top1: overview?.top1At(checkpoint.step),
      other: overview?.otherAt(checkpoint.step),
      best: overview?.best?.step === checkpoint.step,
      latest: listing?.run.dir === dir && listing.checkpoints.at(-1)?.step === checkpoint.step,
      alone: listing?.run.dir === dir && listing.checkpoints.filter(({ valid }) => valid).length === 1,
    };
    return describeCheckpoint(checkpoint, marks, now / 1000);
  }

  getChildren(node?: CheckpointTreeNode): CheckpointTreeNode[] {
    const { listing } = this;
    if (node || !listing) return [];
    const items = listing.checkpoints.map((checkpoint): CheckpointNode => ({
      kind: 'checkpoint',
      ...listing.run,
      step: checkpoint.step,
      path: checkpoint.path,
      checkpoint,
    }));
    const risk = this.riskText(listing);
    return [
      ...items.reverse(),
      ...(risk === undefined ? [] : [{ kind: 'risk' as const, ...listing.run, text: risk }]),
    ];
  }

  /** Of a row of this tree. */
  textOf(row: object): string | undefined {
    return this.rows.textOf(row);
  }

  /** Looks now, whatever was listed. */
  async refresh(): Promise<void> {
    this.listed = '';
    await this.update();
  }

  dispose(): void {
    this.store.dispose();
  }

  /** Looks when the run shown has become another, or has a checkpoint more. */
  private async update(): Promise<void> {
    if (!this.view.visible || !this.backend) return;
    const shown = this.shown();
    // What is shown stays: the end of a run must not put another one in its place.
    if (shown && shown.argument.dir !== this.chosen?.dir) this.chosen = shown.argument;
    const key = shown
      ? `${shown.argument.dir} ${shown.overview.checkpoint?.step ?? 0} ${shown.overview.best?.step ?? 0} ${shown.overview.status}`
      : '';
    if (key !== this.listed || !shown) {
      this.listed = key;
      await this.read(shown?.argument);
    }
    this.rows.update(); // ages and the risk change by themselves
  }

  private nameOf(run: RunArgument): string {
    const listed = this.backend?.monitor.all.find((each) => each.run.entry.dir === run.dir);
    return runName(listed?.run.entry ?? run);
  }

  /** Shows what it finds, unless another reading has begun meanwhile. */
  private async read(run: RunArgument | undefined): Promise<void> {
    const reading = ++this.readings;
    this.view.description = run ? this.nameOf(run) : '';
    let listing: Listing | undefined;
    let message: string | undefined;
    try {
      listing = run && (await this.list(run));
      if (listing) message = listing.checkpoints.length === 0 ? noneText(this.shown()?.overview) : '';
    } catch (error) {
      if (!isCancelled(error)) message = errorWords(error);
    }
    if (reading !== this.readings) return;
    this.listing = listing;
    if (message !== undefined) this.view.message = message;
    this.keys.update({ hasCheckpoints: (listing?.checkpoints.length ?? 0) > 0 });
  }

  private async list(run: RunArgument): Promise<Listing> {
    const machine = await (await this.services.backend()).machineUnlessLeft(run.profile);
    const client = await machine.node.client();
    const { checkpoints } = await client.request('checkpoint.list', { dir: run.dir });
    const { free } = await client.request('disk.free', { path: run.dir });
    return { run, checkpoints: [...checkpoints].sort((a, b) => a.step - b.step), free };
  }

  /**
   * The chosen run, as long as it is listed; else the newest that is under way; else the newest.
   */
  private shown(): { argument: RunArgument; overview: RunOverview } | undefined {
    const all = this.backend?.monitor.all ?? [];
    const found =
      all.find(({ run }) => run.entry.dir === this.chosen?.dir) ??
      all.find(({ run }) => !isOver(run.status)) ??
      all[0];
    if (!found) return undefined;
    const { id, dir } = found.run.entry;
    return { argument: { profile: found.profile, id, dir }, overview: found.run };
  }

  /**
   * What would be lost if the run were killed now, and for how many more checkpoints there is room.
   */
  private riskText({ checkpoints, free }: Listing): string | undefined {
    const overview = this.shown()?.overview;
    const latest = checkpoints.filter(({ valid }) => valid).at(-1);
    const risk = overview && riskText(overview, latest?.step ?? 0);
    if (risk === undefined || !latest || latest.bytes === 0) return risk;
    return `${risk} · room for ${whole(Math.floor(free / latest.bytes))} more`;
  }
}
