// The runs of every connected profile, looked at again and again while somebody looks or something
// runs.
import { Cancelled } from '../base/errors.js';
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import type { NodePath } from '../base/nodePath.js';
import type { ClusterSession } from './clusterSession.js';
import { OverviewReader, type RunOverview } from './overview.js';
import { isUnderWay } from '../model/runStatus.js';

/** Runs of one profile that are shown. */
const mostRuns = 100;

/**
 * Milliseconds between two looks at clusters that are connected while nobody watches and nothing
 * runs: somebody else may start a run.
 */
const quietPause = 30_000;

/** The runs of one profile, as the last look found them. */
export interface ProfileRuns {
  /** Empty where the profiles themselves could not be read. */
  profile: string;
  /** Newest first. */
  runs: readonly RunOverview[];
  /** Why its runs could not be read. */
  problem: unknown;
  /**
   * When they were read last: seconds since the epoch, by this machine's clock. Undefined before the
   * first time.
   */
  seen?: number | undefined;
}

/**
 * Reads the lists of runs of all sessions, and one line on each run. Owns its clock, and no
 * session.
 */
export class RunsMonitor implements Disposable {
  private readonly readers = new Map<string, OverviewReader>();
  private readonly changes = new Emitter<readonly ProfileRuns[]>();
  private latest: readonly ProfileRuns[] = [];
  private reading: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private watchers = 0;
  /** Whether the last look found a profile connected. */
  private connected = false;
  private disposed = false;

  readonly onChange: Event<readonly ProfileRuns[]> = this.changes.event;

  /** `interval` in milliseconds, asked each time. */
  constructor(
    private readonly sessions: () => Promise<readonly ClusterSession[]>,
    private readonly interval: () => number,
  ) {}

  get current(): readonly ProfileRuns[] {
    return this.latest;
  }

  get all(): readonly { profile: string; run: RunOverview }[] {
    return this.latest.flatMap(({ profile, runs }) => runs.map((run) => ({ profile, run })));
  }

  /** Keeps looking until the result is disposed. */
  watch(): Disposable {
    this.watchers++;
    void this.refresh();
    let over = false;
    return {
      dispose: () => {
        if (!over) this.watchers--;
        over = true;
      },
    };
  }

  /** Looks now; a call while a look is under way waits for it and looks once more. */
  async refresh(): Promise<void> {
    await this.reading;
    this.reading ??= this.look().finally(() => {
      this.reading = undefined;
      this.plan();
    });
    await this.reading;
  }

  /** Looks now, and reads this run anew although it is over. */
  async readAgain(profile: string, dir: NodePath): Promise<void> {
    this.readers.get(profile)?.readAgain(dir);
    await this.refresh();
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    this.changes.dispose();
  }

  /**
   * Looks go on while somebody watches, and while a run is under way: its end must be noticed. Else
   * they are few, and there are none where nothing is connected.
   */
  private plan(): void {
    clearTimeout(this.timer);
    const running = this.all.some(({ run }) => isUnderWay(run.status));
    const often = this.watchers > 0 || running;
    if (this.disposed || (!often && !this.connected)) return;
    const pause = often ? this.interval() : Math.max(quietPause, this.interval());
    this.timer = setTimeout(() => void this.refresh(), pause);
  }

  private async look(): Promise<void> {
    try {
      const sessions = await this.sessions();
      this.connected = sessions.some(({ state }) => state.kind === 'connected');
      const names = new Set(sessions.map(({ profile }) => profile.name));
      for (const name of [...this.readers.keys()]) if (!names.has(name)) this.readers.delete(name);
      this.latest = await Promise.all(sessions.map((session) => this.lookAt(session)));
    } catch (error) {
      this.latest = [{ profile: '', runs: [], problem: error }];
    }
    this.changes.fire(this.latest);
  }

  private async lookAt(session: ClusterSession): Promise<ProfileRuns> {
    const profile = session.profile.name;
    const before = this.latest.find((each) => each.profile === profile);
    const { runs: old = [], seen } = before ?? {};
    if (session.state.kind !== 'connected') return { profile, runs: old, problem: undefined, seen };
    try {
      const machine = await session.machine();
      const entries = (await (await machine.registry(session.profile)).list()).slice(0, mostRuns);
      const reader = this.readers.get(profile) ?? new OverviewReader();
      this.readers.set(profile, reader);
      reader.retain(entries);
      const client = await machine.node.client();
      const runs: RunOverview[] = [];
      for (const entry of entries) runs.push(await reader.read(client, entry));
      return { profile, runs, problem: undefined, seen: Date.now() / 1000 };
    } catch (error) {
      return { profile, runs: old, problem: error instanceof Cancelled ? undefined : error, seen };
    }
  }
}
