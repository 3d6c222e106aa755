// The Clusters view: profiles, their nodes and GPUs, with figures once a second while the view is
// visible.
import * as vscode from 'vscode';
import { contextValues, viewIds, type ProfileArgument } from '../../contributions.js';
import { basename } from '../../core/base/nodePath.js';
import type { ClusterSession } from '../../core/follow/clusterSession.js';
import { DisposableStore } from '../../core/base/lifecycle.js';
import type { HostSample, WaitingStart } from '../../core/contracts/metricsSchema.js';
import { isOver } from '../../core/model/runStatus.js';
import type { Tunnel } from '../../core/tunnels/tunnels.js';
import { runName } from '../../core/model/runName.js';
import { tunnelText } from '../../core/tunnels/tunnelSpec.js';
import { whyNotHere } from '../../core/plan/whyNotHere.js';
import type { Backend } from '../backend.js';
import type { ContextKeys } from '../contextKeys.js';
import type { Services } from '../services.js';
import { ageText, ClusterFigures, freshSample, type HostFigures } from './clusterFigures.js';
import { nodesText, queueText } from './clusterSums.js';
import {
  describeGpu,
  describeHost,
  describeProfile,
  describeTunnel,
  describeWaiting,
  withoutRanks,
  type ItemText,
} from './describe.js';
import { DropFiles } from './dropFiles.js';
import { treeItem } from './item.js';
import { errorWords } from '../remedies.js';
import { TreeRows, type TreeSource } from './treeRows.js';
import type { Reading } from './reading.js';

type Gpu = HostSample['gpus'][number];
export type ClusterNode = ProfileArgument &
  (
    | { kind: 'profile' }
    | { kind: 'host'; host: string }
    | { kind: 'gpu'; host: string; gpu: Gpu }
    | { kind: 'waiting'; host: string; start: WaitingStart; place: number }
    | { kind: 'tunnel'; tunnel: string; shown: Tunnel }
  );

export class ClusterTree implements TreeSource<ClusterNode>, vscode.Disposable {
  private readonly store = new DisposableStore();
  private readonly rows: TreeRows<ClusterNode>;
  private readonly view: vscode.TreeView<ClusterNode>;
  private readonly figures = new Map<string, ClusterFigures>();
  private readonly connectedByItself = new Set<string>();
  private sessions: readonly ClusterSession[] = [];
  private backend: Backend | undefined;
  private reading: Promise<void> | undefined;
  private stale = false;

  constructor(
    private readonly services: Services,
    private readonly keys: ContextKeys,
    reading: Reading,
  ) {
    this.rows = new TreeRows(this, reading);
    this.view = vscode.window.createTreeView(viewIds.clusters, {
      treeDataProvider: this.rows,
      dragAndDropController: new DropFiles(),
    });
    this.store.add(this.rows);
    this.store.add(this.view);
    this.store.add(
      services.onBackend((backend) => {
        this.backend = backend;
        this.store.add(backend.clusters.onChange(() => void this.refresh()));
        this.store.add(
          backend.monitor.onChange(() => {
            if (this.view.visible) this.rows.update();
          }),
        );
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
    const session = this.sessions.find(({ profile }) => profile.name === node.profile);
    if (!session) return treeItem(node.profile, missing(node.profile));
    if (node.kind === 'profile') {
      const last = this.services.lastRuns.of(node.profile);
      const sums = this.sumsOf(session);
      const text = describeProfile(session.profile, session.state, { last, sums });
      const open = this.getChildren(node).length > 0;
      // The editor heeds how an item begins only where its id is new to it.
      return treeItem(open ? `${node.profile}/` : node.profile, text, open ? Expanded : None);
    }
    if (node.kind === 'tunnel') {
      return treeItem(`${node.profile}/tunnel ${node.tunnel}`, describeTunnel(node.shown));
    }
    const figures = this.figures.get(node.profile)?.host(node.host);
    if (node.kind === 'host') {
      const hasGpus = gpuNodes(node.profile, figures).length > 0;
      const own = session.profile.hosts?.find(({ host }) => host === node.host);
      const text = withoutRanks(hostText(node.host, figures), own);
      return treeItem(`${node.profile}/${node.host}`, text, hasGpus ? Collapsed : None);
    }
    if (node.kind === 'waiting') {
      const now = figures?.latest?.sample.time ?? node.start.since;
      const text = describeWaiting(node.start, node.place, now);
      return treeItem(`${node.profile}/${node.host}/waiting ${node.start.ticket}`, text);
    }
    const cluster = session.profile.kind !== 'local';
    const text = describeGpu(node.gpu, (process) => this.runOf(process, cluster ? node.host : undefined));
    const shown = freshSample(figures) ? text : { ...text, description: ageText(figures) };
    return treeItem(`${node.profile}/${node.host}/gpu-${node.gpu.index}`, shown);
  }

  getChildren(node?: ClusterNode): ClusterNode[] {
    if (!node) return this.sessions.map(({ profile }) => ({ kind: 'profile', profile: profile.name }));
    const { profile } = node;
    if (node.kind === 'profile') {
      const session = this.sessions.find((each) => each.profile.name === profile);
      if (session?.state.kind !== 'connected') return [];
      const hosts = this.hosts(profile);
      // One machine needs no level of its own: its figures stand at the profile, its GPUs below it.
      if (session.profile.kind === 'local') return gpuNodes(profile, hosts[0]);
      return [
        ...hosts.map(({ name }): ClusterNode => ({ kind: 'host', profile, host: name })),
        ...tunnelNodes(session),
      ];
    }
    return node.kind === 'host' ? gpuNodes(profile, this.figures.get(profile)?.host(node.host)) : [];
  }

  /** Of a row of this tree. */
  textOf(row: object): string | undefined {
    return this.rows.textOf(row);
  }

  /**
   * Reads the profiles anew, connects what connects by itself, and looks at figures while it is
   * visible.
   */
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
      this.view.message = backend.clusters.complaints.map(errorWords).join(' ');
    } catch (error) {
      this.view.message = errorWords(error);
    }
    const states = this.sessions.map(({ state }) => state.kind);
    this.keys.update({
      canConnect: states.some((kind) => kind === 'disconnected' || kind === 'failed'),
      canDisconnect: states.includes('connected'),
      hasOwnProfiles: this.sessions.length > 1,
      hasSshProfile: this.sessions.some(({ profile }) => profile.kind !== 'local'),
      hasCluster: this.sessions.some(({ connected, profile }) => connected && profile.kind !== 'local'),
      hasTunnels: this.sessions.some(({ tunnels }) => (tunnels?.all.length ?? 0) > 0),
    });
    for (const session of this.sessions) {
      this.connectOnce(session);
      this.sample(session);
    }
    this.rows.update();
  }

  private connectOnce(session: ClusterSession): void {
    const { name } = session.profile;
    if (!this.connectsByItself(session) || this.connectedByItself.has(name)) return;
    this.connectedByItself.add(name);
    session.machine().then(
      () => this.backend?.monitor.refresh(name),
      (error: unknown) => {
        this.services.logger.log('warn', `${name}: ${errorWords(error)}`);
      },
    );
  }

  /** This machine needs nobody's leave; a remote one is connected when somebody asks, now or by a setting. */
  private connectsByItself({ profile: { name, kind } }: ClusterSession): boolean {
    if (kind === 'local') return whyNotHere() === undefined;
    const which = this.services.setting('trainyard.connectAtStart');
    const isDefault = name === this.services.setting('trainyard.defaultProfile');
    return which === 'all' || (which === 'default' && isDefault);
  }

  private sample(session: ClusterSession): void {
    const { name } = session.profile;
    const nodes = session.connected?.nodes;
    const known = this.figures.get(name);
    if (known && known.nodes !== nodes) {
      known.dispose();
      this.figures.delete(name);
    }
    if (!nodes || !this.view.visible) return;
    const figures = this.figures.get(name) ?? this.makeFigures(nodes);
    this.figures.set(name, figures);
    figures.start();
  }

  private makeFigures(nodes: ClusterFigures['nodes']): ClusterFigures {
    return new ClusterFigures(nodes, () => {
      this.rows.update();
    });
  }

  private stopSampling(): void {
    for (const figures of this.figures.values()) figures.stop();
  }

  /**
   * What a profile's row says: of one machine its figures, of a cluster all its nodes or its queue.
   * Undefined while nobody knows.
   */
  private sumsOf({ profile: { name, kind }, state }: ClusterSession): string | undefined {
    if (kind === 'local') {
      const sample = freshSample(this.hosts(name)[0]);
      return sample && describeHost(sample, state.kind === 'connected' ? state.cores : 0).description;
    }
    if (kind === 'ssh') return nodesText(this.hosts(name).map(freshSample));
    const listed = this.backend?.monitor.current.find(({ profile }) => profile === name);
    if (listed?.seen === undefined || listed.problem !== undefined) return undefined;
    return queueText(listed.runs.map(({ status }) => status));
  }

  private hosts(profile: string): readonly HostFigures[] {
    return this.figures.get(profile)?.hosts ?? [];
  }

  /** The run that a process belongs to: by the run's folder in its environment, else as a rank. */
  private runOf(
    { pid, run: folder }: { pid: number; run?: string | null | undefined },
    host: string | undefined,
  ): string | undefined {
    const isIt = (rank: { pid: number; host: string }): boolean =>
      rank.pid === pid && (host === undefined || rank.host === host);
    const found = this.backend?.monitor.all.find(({ run: { entry, status } }) =>
      typeof folder === 'string'
        ? basename(entry.dir) === folder
        : !isOver(status) && entry.state?.ranks.some(isIt),
    );
    return found ? runName(found.run.entry) : (folder ?? undefined);
  }
}

/** The node's GPUs, and below them the starts that wait for some, the next one first. */
function gpuNodes(profile: string, figures: HostFigures | undefined): ClusterNode[] {
  const host = figures?.name ?? '';
  const { gpus = [], waiting = [] } = figures?.latest?.sample ?? {};
  return [
    ...gpus.map((gpu): ClusterNode => ({ kind: 'gpu', profile, host, gpu })),
    ...waiting.map((start, at): ClusterNode => ({ kind: 'waiting', profile, host, start, place: at + 1 })),
  ];
}

function tunnelNodes({ profile, tunnels }: ClusterSession): ClusterNode[] {
  return (tunnels?.all ?? []).map((shown) => ({
    kind: 'tunnel',
    profile: profile.name,
    tunnel: tunnelText(shown.spec),
    shown,
  }));
}

function hostText(name: string, figures: HostFigures | undefined): ItemText {
  const sample = freshSample(figures);
  if (figures && sample) return { ...describeHost(sample, figures.cores, figures.cudaBuild), label: name };
  const words = ageText(figures);
  return {
    label: name,
    description: words,
    tooltip: words,
    icon: figures?.problem === undefined ? 'server' : 'warning',
    contextValue: contextValues.host,
  };
}

const missing = (profile: string): ItemText => ({
  label: profile,
  description: 'removed',
  tooltip: 'removed',
  icon: 'question',
  contextValue: contextValues.note,
});
