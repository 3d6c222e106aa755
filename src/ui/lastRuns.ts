// What is remembered of the runs of each profile, for windows in which it is not connected yet.
import type { Memento } from 'vscode';
import type { Backend } from './backend.js';
import { DisposableStore, Emitter, type Disposable, type Event } from '../core/base/lifecycle.js';
import {
  lastSeenOf,
  parseLastSeen,
  wasActive,
  type LastSeen,
  type LastSeenRun,
} from '../core/follow/lastSeen.js';
import type { ProfileRuns } from '../core/follow/runsMonitor.js';
import { isUnderWay } from '../core/model/runStatus.js';
import type { RunOverview } from '../core/follow/overview.js';

const prefix = 'trainyard.lastSeen.';
/** Profiles beyond these, seen the longest time ago, are forgotten. */
const mostProfiles = 32;
/** Figures alone are written this often, in seconds; a status that changed is written at once. */
const writeEvery = 30;

/** The runs of one profile that are shown: as they are, or as they were. */
export interface ShownRuns extends ProfileRuns {
  /** As they were when they were seen last; then `runs` is empty. */
  last: LastSeen | undefined;
}

export class LastRuns implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new Emitter<undefined>());
  private backend: Backend | undefined;

  /** What is shown may have changed. */
  readonly onChange: Event<undefined> = this.changes.event;

  constructor(
    private readonly memory: Memento,
    onBackend: (use: (backend: Backend) => void) => Disposable,
  ) {
    this.store.add(
      onBackend((backend) => {
        this.backend = backend;
        this.store.add(
          backend.monitor.onChange((groups) => {
            void this.remember(groups);
            this.changes.fire(undefined);
          }),
        );
        this.store.add(
          backend.clusters.onChange(() => {
            this.changes.fire(undefined);
          }),
        );
      }),
    );
  }

  /** Of every profile; of those that are not connected, or not looked at yet, what is remembered. */
  get shown(): readonly ShownRuns[] {
    const current = this.backend?.monitor.current ?? [];
    const isListed = current.some(({ profile }) => profile !== '');
    const others = isListed ? [] : this.profiles;
    return [...current, ...others.map((profile) => ({ profile, runs: [], problem: undefined }))].map(
      (group) => this.shownOf(group),
    );
  }

  /** What is remembered of a profile that is not connected. */
  of(profile: string): LastSeen | undefined {
    return this.isSeen(profile) ? undefined : parseLastSeen(this.memory.get(prefix + profile));
  }

  /** Runs that are under way, and with `last` those that were. */
  get active(): readonly ({ profile: string } & (
    { run: RunOverview } | { run: LastSeenRun; last: LastSeen }
  ))[] {
    const all = this.shown;
    return [
      ...all.flatMap(({ profile, runs }) =>
        runs.filter(({ status }) => isUnderWay(status)).map((run) => ({ profile, run })),
      ),
      ...all.flatMap(({ profile, last }) =>
        last ? last.runs.filter(wasActive).map((run) => ({ profile, run, last })) : [],
      ),
    ];
  }

  dispose(): void {
    this.store.dispose();
  }

  private shownOf(group: ProfileRuns): ShownRuns {
    const last = this.of(group.profile);
    return last ? { ...group, runs: [], last } : { ...group, last };
  }

  private isSeen(profile: string): boolean {
    const { clusters, monitor } = this.backend ?? {};
    return (
      clusters?.find(profile)?.state.kind === 'connected' &&
      monitor?.current.some((group) => group.profile === profile && group.seen !== undefined) === true
    );
  }

  private get profiles(): string[] {
    return this.memory.keys().flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
  }

  private async remember(groups: readonly ProfileRuns[]): Promise<void> {
    for (const group of groups) {
      const now = lastSeenOf(group);
      const before = parseLastSeen(this.memory.get(prefix + group.profile));
      if (now && isNews(before, now)) await this.memory.update(prefix + group.profile, now);
    }
    await this.forgetOthers();
  }

  /** Of profiles that were removed, and of those that nobody looked at for the longest time. */
  private async forgetOthers(): Promise<void> {
    const kept = this.profiles;
    const removed = kept.filter((profile) => this.backend?.clusters.knows(profile) === false);
    const rest = kept
      .filter((profile) => !removed.includes(profile))
      .map((profile) => ({ profile, at: parseLastSeen(this.memory.get(prefix + profile))?.at ?? 0 }))
      .sort((a, b) => b.at - a.at)
      .slice(mostProfiles)
      .map(({ profile }) => profile);
    for (const profile of [...removed, ...rest]) await this.memory.update(prefix + profile, undefined);
  }
}

function isNews(before: LastSeen | undefined, now: LastSeen): boolean {
  if (!before || now.at - before.at >= writeEvery) return true;
  if (now.at <= before.at) return false; // of another window, which saw them since
  const statuses = ({ runs }: LastSeen): string => runs.map(({ id, status }) => `${id} ${status}`).join();
  return statuses(before) !== statuses(now);
}
