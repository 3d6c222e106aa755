// One feed a run, shared by all who look at it, and kept for a moment after the last one left.
import type { Disposable } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { AgentClient } from '../agent/agentClient.js';
import type { RunDetails } from '../contracts/agentApi.js';
import { isUnderWay } from '../model/runStatus.js';
import { RunFeed } from './runFeed.js';
import type { ProfileRuns } from './runsMonitor.js';
import type { NodePath } from '../base/nodePath.js';

/**
 * A tab that is closed and opened again, or a window that reloads a page, finds its feed.
 * Milliseconds.
 */
const keptFor = 30_000;

interface Entry {
  feed: RunFeed;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** The feeds of the runs that somebody looks at, one for each run. Owns the feeds. */
export class RunFeeds implements Disposable {
  private readonly entries = new Map<string, Entry>();
  /** Of each profile, when its runs were read last. */
  private readonly seen = new Map<string, number>();

  constructor(
    private readonly client: (profile: string) => Promise<AgentClient>,
    private readonly logger: Logger = nullLogger,
    /** Told of every look at a run of that profile. */
    private readonly onLook?: (profile: string, details: RunDetails) => void,
  ) {}

  /** The feed of the run in `dir`, started; let go by `dispose` of the result. */
  use(profile: string, dir: NodePath): { feed: RunFeed } & Disposable {
    const key = `${profile}\n${dir}`;
    const entry = this.entries.get(key) ?? this.make(profile, dir);
    this.entries.set(key, entry);
    clearTimeout(entry.timer);
    entry.users++;
    entry.feed.start();
    let over = false;
    return {
      feed: entry.feed,
      dispose: () => {
        if (over) return;
        over = true;
        entry.users--;
        if (entry.users === 0) {
          entry.timer = setTimeout(() => {
            this.entries.delete(key);
            entry.feed.dispose();
          }, keptFor);
        }
      },
    };
  }

  /** Looks anew at a run that somebody looks at, and may be over. */
  look(profile: string, dir: NodePath): void {
    this.entries.get(`${profile}\n${dir}`)?.feed.start();
  }

  /**
   * Follows again the runs that a look found under way, where somebody looks at one: it was
   * resumed, or its cluster was connected again.
   */
  lookAtAll({ profile, runs, seen }: ProfileRuns): void {
    if (seen === undefined || seen === this.seen.get(profile)) return; // the look did not succeed
    this.seen.set(profile, seen);
    for (const { entry, status } of runs) {
      if (isUnderWay(status)) this.look(profile, entry.dir);
    }
  }

  dispose(): void {
    for (const { feed, timer } of this.entries.values()) {
      clearTimeout(timer);
      feed.dispose();
    }
    this.entries.clear();
  }

  private make(profile: string, dir: NodePath): Entry {
    const feed = new RunFeed({
      dir,
      client: () => this.client(profile),
      logger: this.logger,
      onLook: (details) => this.onLook?.(profile, details),
    });
    return { feed, users: 0, timer: undefined };
  }
}
