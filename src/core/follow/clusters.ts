// A session for every profile there is, as profiles come and go.
import { UserError } from '../base/errors.js';
import { DisposableStore, Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { Profile } from '../contracts/profileSchema.js';
import { noSuchProfile, throwIfBroken, type BrokenProfile, type ProfileStore } from '../profiles/store.js';
import { ClusterSession } from './clusterSession.js';

/**
 * The sessions of all profiles, made and ended as the file of profiles changes. Owns the sessions.
 */
export class Clusters implements Disposable {
  private readonly sessions = new Map<string, { session: ClusterSession; subscription: Disposable }>();
  private readonly changes = new Emitter<undefined>();
  private readonly ends = new Emitter<Machine>();
  private broken: readonly BrokenProfile[] = [];
  /** Why the file could not be understood when it was read last. */
  private unreadable: UserError | undefined;
  /** What the file said when it could be understood last. */
  private good: { path: string; profiles: readonly Profile[]; named: ReadonlySet<string> } | undefined;

  /** A profile or a session's state changed. */
  readonly onChange: Event<undefined> = this.changes.event;
  /** The machine of a session is disposed; see `ClusterSession.onEnd`. */
  readonly onEnd: Event<Machine> = this.ends.event;

  constructor(
    private readonly store: () => ProfileStore,
    private readonly makeMachine: (profile: Profile) => Machine,
    private readonly logger: Logger = nullLogger,
  ) {}

  /**
   * What was wrong with the profile file, or with entries of it, when it was read last; empty when
   * all is well.
   */
  get complaints(): readonly UserError[] {
    return [...(this.unreadable ? [this.unreadable] : []), ...this.broken.map(({ error }) => error)];
  }

  /**
   * In the order of the profile file, `local` first. A file that is being edited is wrong for a
   * while: what was right before stays as it was. UserError (usage) when the file cannot be
   * understood, and could not be before.
   */
  async list(): Promise<ClusterSession[]> {
    const store = this.store();
    const { profiles, broken } = await this.contents(store);
    this.broken = broken;
    const named = new Set([...profiles, ...broken].map(({ name }) => name));
    for (const [name, { session, subscription }] of this.sessions) {
      if (named.has(name)) continue; // what is connected stays so while its entry is being edited
      session.dispose();
      subscription.dispose();
      this.sessions.delete(name);
    }
    const shown = this.withBefore(profiles, broken);
    this.good = { path: store.path, profiles: shown, named };
    return shown.map((profile) => {
      const before = this.sessions.get(profile.name);
      if (before?.session.profile.kind === profile.kind) {
        before.session.profile = profile;
        return before.session;
      }
      before?.session.dispose();
      before?.subscription.dispose();
      return this.own(new ClusterSession(profile, this.makeMachine, this.logger));
    });
  }

  /**
   * Whether the profile file names it, also in an entry that is wrong; undefined where the file
   * could not be understood yet.
   */
  knows(name: string): boolean | undefined {
    return this.good?.named.has(name);
  }

  /** A session that `list` made, by its profile's name; the file is not read for it. */
  find(name: string): ClusterSession | undefined {
    return this.sessions.get(name)?.session;
  }

  /**
   * UserError (usage): what is wrong with its entry, or the profiles there are when `name` is none
   * of them.
   */
  async get(name: string): Promise<ClusterSession> {
    const sessions = await this.list();
    throwIfBroken(name, this.broken);
    const session = sessions.find(({ profile }) => profile.name === name);
    return (
      session ??
      noSuchProfile(
        name,
        sessions.map(({ profile }) => profile.name),
      )
    );
  }

  /** Takes over the session of a profile that was saved just now, with what is connected. */
  adopt(session: ClusterSession): void {
    const old = this.sessions.get(session.profile.name);
    old?.session.dispose();
    old?.subscription.dispose();
    this.own(session);
    this.changes.fire(undefined);
  }

  /** Profiles were added, edited or removed. */
  profilesChanged(): void {
    this.changes.fire(undefined);
  }

  dispose(): void {
    for (const { session, subscription } of this.sessions.values()) {
      session.dispose();
      subscription.dispose();
    }
    this.sessions.clear();
    this.changes.dispose();
    this.ends.dispose();
  }

  /** What the file says; what it said last where it cannot be understood now. */
  private async contents(
    store: ProfileStore,
  ): Promise<{ profiles: readonly Profile[]; broken: readonly BrokenProfile[] }> {
    try {
      const contents = await store.contents();
      this.unreadable = undefined;
      return contents;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (this.good?.path !== store.path) {
        this.good = undefined;
        throw error;
      }
      this.unreadable = error;
      return { profiles: this.good.profiles, broken: [] };
    }
  }

  /** Entries that are wrong now stay as they were, in their places. */
  private withBefore(profiles: readonly Profile[], broken: readonly BrokenProfile[]): Profile[] {
    const shown = [...profiles];
    for (const [at, profile] of (this.good?.profiles ?? []).entries()) {
      const isBroken = broken.some(({ name }) => name === profile.name) && this.sessions.has(profile.name);
      if (isBroken && !profiles.some(({ name }) => name === profile.name)) shown.splice(at, 0, profile);
    }
    return shown;
  }

  private own(session: ClusterSession): ClusterSession {
    const subscription = new DisposableStore();
    subscription.add(
      session.onState(() => {
        this.changes.fire(undefined);
      }),
    );
    subscription.add(
      session.onEnd((machine) => {
        this.ends.fire(machine);
      }),
    );
    this.sessions.set(session.profile.name, { session, subscription });
    return session;
  }
}
