// The part of the core that costs time to load, behind one dynamic import (loadLazy.ts).
import type { AgentClient } from '../core/agent/agentClient.js';
import { Clusters } from '../core/follow/clusters.js';
import { ClusterSession } from '../core/follow/clusterSession.js';
import type { NodePath } from '../core/base/nodePath.js';
import type { Machine } from '../core/cluster/nodes/machine.js';
import { makeMachine } from '../core/cluster/machines.js';
import type { Disposable } from '../core/base/lifecycle.js';
import type { Logger } from '../core/base/log.js';
import { noteRun, RunBook } from '../core/profiles/runBook.js';
import { ProfileStore, trainyardHome } from '../core/profiles/store.js';
import type { Profile } from '../core/contracts/profileSchema.js';
import { LostOnClusters } from '../core/follow/lostOnClusters.js';
import { RunChanges } from '../core/follow/runChanges.js';
import { RunFeeds } from '../core/follow/runFeeds.js';
import { runTerminal, type RunTerminal } from '../core/follow/runTerminal.js';
import { RunsMonitor } from '../core/follow/runsMonitor.js';
import type { Prompter } from '../core/ssh/base/transport.js';
import { TensorBoards } from '../core/tunnels/tensorboard.js';
import { Comparer } from './comparer.js';
import { editorPrompter } from './prompter.js';
import { adviceText, errorWords } from './remedies.js';

export interface BackendOptions {
  bundleDir: string;
  logger: Logger;
  /** Asked each time, because the setting may change; undefined stands for the usual folder. */
  home: () => string | undefined;
  /** Of this machine; asked each time too. */
  tensorboardPort: () => number;
  /** Milliseconds between two looks at the runs. */
  interval: () => number;
}

export class Backend implements Disposable {
  readonly clusters: Clusters;
  readonly monitor: RunsMonitor;
  readonly changes: RunChanges;
  readonly feeds: RunFeeds;
  readonly boards: TensorBoards;
  readonly comparer: Comparer;
  private readonly lost: LostOnClusters;
  private readonly revived: Disposable;
  private readonly left: Disposable;
  private readonly stores = new Map<string, ProfileStore>();
  private notes: Promise<void> = Promise.resolve();

  constructor(private readonly options: BackendOptions) {
    const { logger } = options;
    this.clusters = new Clusters(
      () => this.profiles(),
      (profile) => this.makeMachine(profile, editorPrompter()),
      logger,
    );
    this.monitor = new RunsMonitor(() => this.clusters.list(), options.interval);
    const client = async (profile: string): Promise<AgentClient> =>
      (await this.machineUnlessLeft(profile)).node.client();
    this.changes = new RunChanges(this.monitor, client, logger);
    this.lost = new LostOnClusters(this.clusters, this.monitor, logger);
    this.feeds = new RunFeeds(client, logger, (profile, details) => {
      this.lost.saw(profile, details);
    });
    this.revived = this.monitor.onChange((lists) => {
      for (const list of lists) this.feeds.lookAtAll(list);
    });
    this.comparer = new Comparer(client);
    const howToOpen = adviceText({ kind: 'openTensorBoard' });
    this.boards = new TensorBoards({ logger, howToOpen, port: () => options.tensorboardPort() });
    this.left = this.clusters.onEnd((machine) => {
      this.boards.leave(machine);
    });
  }

  /** One for each home, so that changes of this window follow one another. */
  profiles(): ProfileStore {
    const home = this.home();
    const store = this.stores.get(home) ?? new ProfileStore(home);
    this.stores.set(home, store);
    return store;
  }

  /**
   * Notes where a run was started, and its name, by which the command line finds it (`last`). One
   * that cannot be noted runs all the same.
   */
  note(id: string, profile: string, name = ''): Promise<void> {
    return this.inBook(id, (book) => book.add(id, profile, name));
  }

  /** Notes another name of a run; an empty one takes it away. */
  noteName(id: string, name: string): Promise<void> {
    return this.inBook(id, (book) => book.rename(id, name));
  }

  private inBook(id: string, write: (book: RunBook) => Promise<void>): Promise<void> {
    // One after the other, as each writes the whole book.
    const say = (text: string): void => {
      this.options.logger.log('warn', text);
    };
    const writing = (): Promise<void> => write(new RunBook(this.home()));
    this.notes = this.notes.then(() => noteRun(id, writing, say, errorWords));
    return this.notes;
  }

  /** Of a profile that is not saved. `Clusters.adopt` takes it over, or the caller disposes it. */
  trial(profile: Profile, prompter: Prompter): ClusterSession {
    return new ClusterSession(profile, (of) => this.makeMachine(of, prompter), this.options.logger);
  }

  session(profile: string): Promise<ClusterSession> {
    return this.clusters.get(profile);
  }

  /** Connected when it is not yet. UserError. */
  async machine(profile: string): Promise<Machine> {
    return (await this.session(profile)).machine();
  }

  /** For what goes on by itself: see `ClusterSession.machineUnlessLeft`. UserError. */
  async machineUnlessLeft(profile: string): Promise<Machine> {
    // Asked at every look of every feed, so the profile file is not read again for it.
    const session = this.clusters.find(profile) ?? (await this.session(profile));
    return session.machineUnlessLeft();
  }

  /** Where the terminal of a run opens; undefined where that is this machine. UserError. */
  async runTerminal(profile: string, dir: NodePath): Promise<RunTerminal | undefined> {
    const session = await this.session(profile);
    return runTerminal(await session.machine(), session.profile, dir);
  }

  dispose(): void {
    this.left.dispose();
    this.boards.dispose();
    this.revived.dispose();
    this.feeds.dispose();
    this.changes.dispose();
    this.lost.dispose();
    this.monitor.dispose();
    this.clusters.dispose();
  }

  private makeMachine(profile: Profile, prompter: Prompter): Machine {
    const { bundleDir, logger } = this.options;
    return makeMachine(profile, { bundleDir, logger, home: this.home(), prompter });
  }

  private home(): string {
    return this.options.home() ?? trainyardHome();
  }
}
