// One run's model, kept up to date from its files for as long as somebody wants it.
import { setTimeout as delay } from 'node:timers/promises';
import { Cancelled, errorText } from '../base/errors.js';
import { DisposableStore, Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { RunDetails } from '../contracts/agentApi.js';
import type { AgentClient } from '../agent/agentClient.js';
import { firstPause, isConnectionError, longestPause, RunFollower, type ExtraFile } from './run.js';
import { figureFile, figuresFile } from './figureLines.js';
import { hostOfFile, parseSample } from './hostFigures.js';
import { TimedLogs } from './logTimes.js';
import { rankOf, runLogs } from './runLogs.js';
import { evaluationData } from '../plan/evaluated.js';
import { RunModel } from '../model/runModel.js';
import { isOver, statusOf } from '../model/runStatus.js';
import type { NodePath } from '../base/nodePath.js';

/** Ranks whose logs are shown; a file each is followed. */
const mostRankLogs = 16;
const otherLogs = ['eval', 'supervisor'];
/** How much of a log's end is read at first. */
const logTail = 64 * 1024;

/**
 * Which run a feed reads. `client` is asked again after a loss; `now` is the clock, this machine's
 * where it is left out.
 */
export interface RunFeedOptions {
  dir: NodePath;
  client: () => Promise<AgentClient>;
  logger?: Logger;
  /** Told of every look at the run. */
  onLook?: (details: RunDetails) => void;
  /** Seconds since the epoch. */
  now?: () => number;
}

/** Reads one run into a model, for everybody who looks at it. The connection is another's. */
export class RunFeed implements Disposable {
  private record: RunDetails | undefined;
  readonly model = new RunModel(() => this.record && evaluationData(this.record));
  private readonly changes = new Emitter<undefined>();
  private readonly logger: Logger;
  private following: DisposableStore | undefined;
  private disposed = false;
  private lastUpdate: number;
  private lost = false;
  private failure: unknown;

  /** Something in the model, or in the connection, is new. */
  readonly onChange: Event<undefined> = this.changes.event;

  constructor(private readonly options: RunFeedOptions) {
    this.logger = options.logger ?? nullLogger;
    this.lastUpdate = this.now();
  }

  get dir(): string {
    return this.options.dir;
  }

  /** Whether updates arrive, and when the last one did (seconds since the epoch). */
  get connection(): { state: 'connected' | 'lost'; since: number } {
    return { state: this.lost ? 'lost' : 'connected', since: this.lastUpdate };
  }

  /** Why the run can no longer be followed; undefined while it can. */
  get problem(): unknown {
    return this.failure;
  }

  /**
   * Follows until the run is over. Called again, it looks anew: the run may have been continued in
   * its folder.
   */
  start(): void {
    if (this.following || this.disposed) return;
    this.failure = undefined;
    const store = new DisposableStore();
    this.following = store;
    void this.follow(store).finally(() => {
      store.dispose();
      this.following = undefined;
    });
  }

  dispose(): void {
    this.disposed = true;
    this.following?.dispose();
    this.changes.dispose();
  }

  private now(): number {
    return this.options.now?.() ?? Date.now() / 1000;
  }

  private async follow(store: DisposableStore): Promise<void> {
    const { dir, client } = this.options;
    const timed = store.add(new TimedLogs());
    const extras = (details: RunDetails): ExtraFile[] => {
      this.record = details;
      return this.extras(details, timed);
    };
    const follower = store.add(new RunFollower({ dir, client, logger: this.logger, extras }));
    follower.onMetric(({ value }) => {
      if (value) {
        this.changed(() => {
          this.model.addMetric(value);
        });
      }
    });
    follower.onReset(() => {
      this.changed(() => {
        this.model.resetMetrics();
      });
    });
    follower.onEvent(({ value }) => {
      if (value) {
        this.changed(() => {
          this.model.addEvent(value);
        });
      }
    });
    follower.onState((details) => {
      this.changed(() => {
        this.lost = false;
        this.model.details = details;
      });
      this.options.onLook?.(details);
    });
    follower.onConnection((change) => {
      this.lost = change === 'lost';
      this.changes.fire(undefined);
    });
    try {
      if (await this.isUnchangedOnceReached(store)) return;
      this.beginAgain();
      await follower.follow();
    } catch (error) {
      if (this.disposed) return;
      // Somebody ended the connection, or did not log in again.
      if (error instanceof Cancelled) this.lost = true;
      else this.failure = error;
      this.logger.log('warn', `${dir}: ${errorText(error)}`);
      this.changes.fire(undefined);
    }
  }

  /** As `isUnchanged`, which is asked again while the connection is lost. */
  private async isUnchangedOnceReached(store: DisposableStore): Promise<boolean> {
    const end = new AbortController();
    store.defer(() => {
      end.abort();
    });
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      try {
        return await this.isUnchanged();
      } catch (error) {
        if (this.disposed || !isConnectionError(error)) throw error;
        this.logger.log('info', `looking at ${this.options.dir}: ${errorText(error)}`);
        this.lost = true;
        this.changes.fire(undefined);
        await delay(pause, undefined, { signal: end.signal });
      }
    }
  }

  /** Whether all of a run that is over is known already. */
  private async isUnchanged(): Promise<boolean> {
    const known = this.model.details;
    if (!known) return false;
    const client = await this.options.client();
    const now = await client.request('run.get', { dir: this.options.dir });
    this.lost = false;
    const isSame =
      isOver(statusOf(now)) &&
      now.interrupted === known.interrupted &&
      now.state?.updated === known.state?.updated;
    // Of a run that is over, its name, tags and notes may still change.
    if (isSame) {
      this.changed(() => {
        this.model.details = now;
      });
    }
    return isSame;
  }

  /** Everything is read again from the start, so what is there must go. */
  private beginAgain(): void {
    if (!this.model.details) return;
    this.model.log.clear();
    this.model.resetMetrics();
    this.model.resetFigures();
    this.model.resetEvents();
    for (const host of this.model.hosts.values()) host.clear();
  }

  private changed(change: () => void): void {
    change();
    this.lastUpdate = this.now();
    this.changes.fire(undefined);
  }

  /** Figures of every node, and the ends of the first ranks' logs. */
  private extras(details: RunDetails, timed: TimedLogs): ExtraFile[] {
    const { files } = details;
    const samples = Object.keys(files).flatMap((name) => {
      const host = hostOfFile(name);
      return host === undefined ? [] : [this.hostFile(name, host)];
    });
    const logs = runLogs(files).flatMap(({ file, source }) => {
      const rank = rankOf(source);
      const isShown = rank === undefined ? otherLogs.includes(source) : rank < mostRankLogs;
      return isShown ? this.logFiles(timed, file, source.replace('-', ' '), files) : [];
    });
    return [...samples, ...logs, ...(figuresFile in files ? [this.figures()] : [])];
  }

  private figures(): ExtraFile {
    return figureFile(
      (line) => {
        this.changed(() => {
          this.model.addFigure(line);
        });
      },
      () => {
        this.model.resetFigures();
      },
    );
  }

  private hostFile(name: string, host: string): ExtraFile {
    return {
      name,
      start: 0,
      onLine: ({ text }) => {
        const sample = parseSample(text);
        if (sample !== undefined) {
          this.changed(() => {
            this.model.addSample(host, sample);
          });
        }
      },
      onReset: () => {
        this.model.resetHost(host);
      },
    };
  }

  private logFiles(
    timed: TimedLogs,
    name: string,
    source: string,
    files: Readonly<Record<string, number>>,
  ): ExtraFile[] {
    const start = Math.max(0, (files[name] ?? 0) - logTail);
    let partial = start > 0;
    return timed.files(name, start, files, ({ text }, time) => {
      // Where reading begins in the middle, the first line is half of one.
      if (partial) partial = false;
      else if (text.trim() !== '' && !this.disposed) {
        this.changed(() => {
          this.model.log.add(source, text, undefined, time);
        });
      }
    });
  }
}
