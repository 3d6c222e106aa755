// The Clusters view: the local profile and this machine's figures, once a second while the view is visible.
import * as vscode from 'vscode';
import { viewIds } from '../../contributions.js';
import type { HostSampler, SampleResult } from '../../core/gpus/sampler.js';
import type { Disposable } from '../../core/lifecycle.js';
import type { HostSample } from '../../core/metrics/schema.js';
import { describeGpu, describeHost, type ItemText } from './describe.js';
import { treeItem } from './item.js';

type Gpu = HostSample['gpus'][number];
export type ClusterNode = { kind: 'profile' } | { kind: 'host' } | { kind: 'gpu'; gpu: Gpu };

/** A figure older than this is not shown as if it were true now. */
const staleAfter = 5000;

export interface HostSource {
  sampler: HostSampler;
  cores: () => Promise<number>;
}

export class ClusterTree implements vscode.TreeDataProvider<ClusterNode>, vscode.Disposable {
  private readonly view: vscode.TreeView<ClusterNode>;
  private readonly changes = new vscode.EventEmitter<ClusterNode | undefined>();
  private readonly subscriptions: Disposable[];
  private readonly profile: ClusterNode = { kind: 'profile' };
  private readonly host: ClusterNode = { kind: 'host' };
  private latest: { sample: HostSample; at: number } | undefined;
  private problem: string | undefined;
  private cores = 0;

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly source: HostSource) {
    this.view = vscode.window.createTreeView(viewIds.clusters, { treeDataProvider: this });
    this.subscriptions = [
      this.view,
      this.changes,
      source.sampler.onSample((result) => void this.take(result)),
      this.view.onDidChangeVisibility(({ visible }) => {
        this.setVisible(visible);
      }),
    ];
    this.setVisible(this.view.visible);
  }

  getTreeItem(node: ClusterNode): vscode.TreeItem {
    const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState;
    if (node.kind === 'profile') {
      return treeItem(
        'local',
        { ...this.hostText(), label: 'local', icon: 'vm', contextValue: 'profile' },
        Expanded,
      );
    }
    if (node.kind === 'host') {
      return treeItem('local/host', this.hostText(), this.gpus().length > 0 ? Collapsed : None);
    }
    return treeItem(`local/gpu-${node.gpu.index}`, describeGpu(node.gpu));
  }

  getChildren(node?: ClusterNode): ClusterNode[] {
    if (!node) return [this.profile];
    if (node.kind === 'profile') return [this.host];
    return node.kind === 'host' ? this.gpus().map((gpu) => ({ kind: 'gpu', gpu })) : [];
  }

  refresh(): void {
    this.source.sampler.stop();
    this.setVisible(this.view.visible);
    this.changes.fire(undefined);
  }

  dispose(): void {
    this.setVisible(false);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private setVisible(visible: boolean): void {
    if (visible) this.source.sampler.start();
    else this.source.sampler.stop();
  }

  private async take(result: SampleResult): Promise<void> {
    if ('sample' in result) {
      this.latest = { sample: result.sample, at: Date.now() };
      this.problem = undefined;
      if (this.cores === 0) this.cores = await this.source.cores().catch(() => 0);
    } else {
      this.problem = result.error;
    }
    this.changes.fire(undefined);
  }

  private gpus(): readonly Gpu[] {
    return this.latest?.sample.gpus ?? [];
  }

  private hostText(): ItemText {
    const { latest, problem } = this;
    const fresh = latest !== undefined && Date.now() - latest.at < staleAfter;
    if (latest && fresh) return describeHost(latest.sample, this.cores);
    const age = latest ? `no figures for ${Math.round((Date.now() - latest.at) / 1000)} s` : 'asking…';
    return {
      label: latest?.sample.host ?? 'this machine',
      description: problem ?? age,
      tooltip: problem ?? age,
      icon: problem === undefined ? 'server' : 'warning',
      contextValue: 'host',
    };
  }
}
