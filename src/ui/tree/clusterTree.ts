// The Clusters view: profiles, their nodes and GPUs, with figures once a second while the view is visible.
import * as vscode from 'vscode';
import { contextValues, viewIds, type ProfileArgument } from '../../contributions.js';
import type { ClusterSession } from '../../core/clusters/session.js';
import { errorText } from '../../core/errors.js';
import { HostSampler, type SampleResult } from '../../core/gpus/sampler.js';
import { DisposableStore, type Disposable } from '../../core/lifecycle.js';
import type { HostSample } from '../../core/metrics/schema.js';
import { isOver } from '../../core/runs/status.js';
import type { Backend } from '../backend.js';
import type { ContextKeys } from '../contextKeys.js';
import type { Services } from '../services.js';
import { describeGpu, describeHost, describeProfile, shortName, type ItemText } from './describe.js';
import { treeItem } from './item.js';

type Gpu = HostSample['gpus'][number];
export type ClusterNode = ProfileArgument &
  ({ kind: 'profile' } | { kind: 'host' } | { kind: 'gpu'; gpu: Gpu });

/** A figure older than this is not shown as if it were true now. */
const staleAfter = 5000;

/** One profile's newest figures. */
interface Figures extends Disposable {
  readonly sampler: HostSampler;
  latest: { sample: HostSample; at: number } | undefined;
  problem: string | undefined;
}

export class ClusterTree implements vscode.TreeDataProvider<ClusterNode>, vscode.Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = new vscode.EventEmitter<ClusterNode | undefined>();
  private readonly view: vscode.TreeView<ClusterNode>;
  private readonly figures = new Map<string, Figures>();
  private readonly connectedByItself = new Set<string>();
  private sessions: readonly ClusterSession[] = [];
  private backend: Backend | undefined;
  private reading: Promise<void> | undefined;
  private stale = false;

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly services: Services,
    private readonly keys: ContextKeys,
  ) {
    this.view = vscode.window.createTreeView(viewIds.clusters, { treeDataProvider: this });
    this.store.add(this.changes);
    this.store.add(this.view);
    this.store.add(
      services.onBackend((backend) => {
        this.backend = backend;
        this.store.add(backend.clusters.onChange(() => void this.refresh()));
        void this.refresh();
      }),
    );
    this.store.add(
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) void this.refresh();
        else this.stopSampling();
      }),
    );
    if (this.view.visible) void this.refresh();
  }

  getTreeItem(node: ClusterNode): vscode.TreeItem {
    const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState;
    if (node.kind === 'gpu') {
      const owner = (pid: number): string | undefined => this.runOf(pid);
      const text = describeGpu(node.gpu, owner);
      const shown = this.fresh(node.profile) ? text : { ...text, description: this.ageText(node.profile) };
      return treeItem(`${node.profile}/gpu-${node.gpu.index}`, shown);
    }
    const session = this.sessions.find(({ profile }) => profile.name === node.profile);
    if (!session) return treeItem(node.profile, missing(node.profile));
    if (node.kind === 'profile') {
      const text = describeProfile(session.profile, session.state, this.fresh(node.profile));
      const open = this.getChildren(node).length > 0;
      return treeItem(node.profile, text, open ? Expanded : None);
    }
    const hasGpus = this.gpus(node.profile).length > 0;
    return treeItem(`${node.profile}/host`, this.hostText(session), hasGpus ? Collapsed : None);
  }

  getChildren(node?: ClusterNode): ClusterNode[] {
    if (!node) return this.sessions.map(({ profile }) => ({ kind: 'profile', profile: profile.name }));
    const { profile } = node;
    if (node.kind === 'profile') {
      const session = this.sessions.find((each) => each.profile.name === profile);
      if (session?.state.kind !== 'connected') return [];
      // One machine needs no level of its own: its figures stand at the profile, its GPUs below it.
      if (session.profile.kind === 'local') return this.gpuNodes(profile);
      return [{ kind: 'host', profile }];
    }
    return node.kind === 'host' ? this.gpuNodes(profile) : [];
  }

  /** Reads the profiles anew, connects what connects by itself, and looks at figures while it is visible. */
  async refresh(): Promise<void> {
    this.stale = true;
    this.reading ??= this.readUntilFresh().finally(() => {
      this.reading = undefined;
    });
    await this.reading;
  }

  dispose(): void {
    for (const figures of this.figures.values()) figures.dispose();
    this.store.dispose();
  }

  /** What changes while it is read is read once more. */
  private async readUntilFresh(): Promise<void> {
    while (this.stale) {
      this.stale = false;
      await this.read();
    }
  }

  private async read(): Promise<void> {
    try {
      const backend = this.backend ?? (await this.services.backend());
      this.sessions = await backend.clusters.list();
      this.view.message = '';
    } catch (error) {
      this.view.message = errorText(error);
    }
    const states = this.sessions.map(({ state }) => state.kind);
    this.keys.update({
      canConnect: states.some((kind) => kind === 'disconnected' || kind === 'failed'),
      canDisconnect: states.includes('connected'),
      hasOwnProfiles: this.sessions.length > 1,
    });
    for (const session of this.sessions) {
      this.connectOnce(session);
      this.sample(session);
    }
    this.changes.fire(undefined);
  }

  /** This machine needs nobody's leave; a remote one is connected when somebody asks. */
  private connectOnce(session: ClusterSession): void {
    const { name, kind } = session.profile;
    if (kind !== 'local' || this.connectedByItself.has(name)) return;
    this.connectedByItself.add(name);
    session.machine().then(
      () => this.backend?.monitor.refresh(),
      (error: unknown) => {
        this.services.logger.log('warn', `${name}: ${errorText(error)}`);
      },
    );
  }

  private sample(session: ClusterSession): void {
    const { name } = session.profile;
    if (session.state.kind !== 'connected') {
      this.figures.get(name)?.dispose();
      this.figures.delete(name);
      return;
    }
    if (!this.view.visible) return;
    const figures = this.figures.get(name) ?? this.makeFigures(session);
    this.figures.set(name, figures);
    figures.sampler.start();
  }

  private makeFigures(session: ClusterSession): Figures {
    const sampler = new HostSampler(async () => {
      const machine = await session.machine();
      return (await machine.node.client()).request('host.sample');
    });
    const figures: Figures = {
      sampler,
      latest: undefined,
      problem: undefined,
      dispose: () => {
        sampler.dispose();
      },
    };
    sampler.onSample((result) => {
      this.take(figures, result);
    });
    return figures;
  }

  private take(figures: Figures, result: SampleResult): void {
    if ('sample' in result) {
      figures.latest = { sample: result.sample, at: Date.now() };
      figures.problem = undefined;
    } else figures.problem = result.error;
    this.changes.fire(undefined);
  }

  private stopSampling(): void {
    for (const { sampler } of this.figures.values()) sampler.stop();
  }

  private fresh(profile: string): HostSample | undefined {
    const latest = this.figures.get(profile)?.latest;
    return latest && Date.now() - latest.at < staleAfter ? latest.sample : undefined;
  }

  private gpuNodes(profile: string): ClusterNode[] {
    return this.gpus(profile).map((gpu) => ({ kind: 'gpu', profile, gpu }));
  }

  private gpus(profile: string): readonly Gpu[] {
    return this.figures.get(profile)?.latest?.sample.gpus ?? [];
  }

  private hostText(session: ClusterSession): ItemText {
    const { name } = session.profile;
    const sample = this.fresh(name);
    const { state } = session;
    if (sample && state.kind === 'connected') return describeHost(sample, state.cores);
    const figures = this.figures.get(name);
    const words = this.ageText(name);
    return {
      label: figures?.latest?.sample.host ?? (state.kind === 'connected' ? state.host : name),
      description: words,
      tooltip: words,
      icon: figures?.problem === undefined ? 'server' : 'warning',
      contextValue: contextValues.host,
    };
  }

  /** In place of figures that are not news. */
  private ageText(profile: string): string {
    const figures = this.figures.get(profile);
    if (figures?.problem !== undefined) return figures.problem;
    if (!figures?.latest) return 'asking…';
    return `no figures for ${Math.round((Date.now() - figures.latest.at) / 1000)} s`;
  }

  /** The run that a process belongs to. */
  private runOf(pid: number): string | undefined {
    const found = this.backend?.monitor.all.find(
      ({ run }) => !isOver(run.status) && run.entry.state?.ranks.some((rank) => rank.pid === pid),
    );
    return found && shortName(found.run.entry.id);
  }
}

const missing = (profile: string): ItemText => ({
  label: profile,
  description: 'removed',
  tooltip: 'removed',
  icon: 'question',
  contextValue: contextValues.note,
});
