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

/** Milliseconds for which who waits for all profiles waits for a slow one. */
const patience = 10_000;

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
 * Reads the lists of runs of all sessions, and one line on each run. A profile that answers slowly
 * keeps no other one from being read and shown. Owns its clock, and no session.
 */
export class RunsMonitor implements Disposable {
  private readonly readers = new Map<string, OverviewReader>();
  private readonly changes = new Emitter<readonly ProfileRuns[]>();
  /** What the last look at each profile found, by its name. */
  private readonly found = new Map<string, ProfileRuns>();
  private latest: readonly ProfileRuns[] = [];
  private readonly looks = new Map<ClusterSession, Promise<void>>();
  /** As they were listed last. */
  private listedSessions: readonly ClusterSession[] = [];
  private timer: NodeJS.Timeout | undefined;
  private watchers = 0;
  /** Whether a profile was connected when they were listed last. */
  private connected = false;
  private disposed = false;

  /** Fires with what was found anew; `current` has all. */
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

  /**
   * Looks now, at one profile or at all; a call while a look at a profile is under way waits for it
   * and looks once more. Nobody waits long for one that is slow: what is found there comes later.
   */
  async refresh(only?: string): Promise<void> {
    const sessions = await this.listed();
    const wanted = sessions.filter(({ profile }) => only === undefined || profile.name === only);
    await inTime(Promise.all(wanted.map((session) => this.lookAgain(session))));
  }

  /** Looks now, and reads this run anew although it is over. */
  async readAgain(profile: string, dir: NodePath): Promise<void> {
    this.readers.get(profile)?.readAgain(dir);
    await this.refresh(profile);
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
    this.timer = setTimeout(() => void this.lookAtIdle(), pause);
  }

  /** Looks at what no look is under way at. */
  private async lookAtIdle(): Promise<void> {
    for (const session of await this.listed()) {
      if (!this.looks.has(session)) void this.look(session);
    }
  }

  /** Lists the profiles, shows those that are not connected, and returns the others. */
  private async listed(): Promise<readonly ClusterSession[]> {
    let sessions: readonly ClusterSession[] = [];
    try {
      sessions = await this.sessions();
      const names = new Set(sessions.map(({ profile }) => profile.name));
      for (const name of [...this.readers.keys()]) if (!names.has(name)) this.readers.delete(name);
      for (const name of [...this.found.keys()]) if (!names.has(name)) this.found.delete(name);
      this.latest = sessions.map(({ profile: { name }, state }) => {
        const { runs, problem, seen } = this.foundOf(name);
        return { profile: name, runs, problem: state.kind === 'connected' ? problem : undefined, seen };
      });
    } catch (error) {
      this.latest = [{ profile: '', runs: [], problem: error }];
    }
    this.listedSessions = sessions;
    const connected = sessions.filter(({ state }) => state.kind === 'connected');
    const looked = new Set(connected.map(({ profile }) => profile.name));
    this.connected = connected.length > 0;
    const others = this.latest.filter(({ profile }) => !looked.has(profile));
    if (others.length > 0) this.changes.fire(others);
    this.plan();
    return connected;
  }

  private async lookAgain(session: ClusterSession): Promise<void> {
    await this.looks.get(session);
    await (this.looks.get(session) ?? this.look(session));
  }

  private look(session: ClusterSession): Promise<void> {
    const look = this.lookAt(session).then((list) => {
      this.looks.delete(session);
      if (this.listedSessions.includes(session)) this.show(list); // else it was removed or replaced
      this.plan();
    });
    this.looks.set(session, look);
    return look;
  }

  private show(list: ProfileRuns): void {
    this.found.set(list.profile, list);
    this.latest = this.latest.map((each) => (each.profile === list.profile ? list : each));
    this.changes.fire([list]);
  }

  private foundOf(profile: string): ProfileRuns {
    return this.found.get(profile) ?? { profile, runs: [], problem: undefined, seen: undefined };
  }

  private async lookAt(session: ClusterSession): Promise<ProfileRuns> {
    const profile = session.profile.name;
    const { runs: old, seen } = this.foundOf(profile);
    // It may have been disconnected since it was listed, and is not to be connected by this.
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

/** Resolves with the work, or after `patience`: the work goes on. */
async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
