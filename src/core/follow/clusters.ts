// A session for every profile there is, as profiles come and go.
import type { UserError } from '../base/errors.js';
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
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
  private broken: readonly BrokenProfile[] = [];
  private named: ReadonlySet<string> | undefined;

  /** A profile or a session's state changed. */
  readonly onChange: Event<undefined> = this.changes.event;

  constructor(
    private readonly store: () => ProfileStore,
    private readonly makeMachine: (profile: Profile) => Machine,
    private readonly logger: Logger = nullLogger,
  ) {}

  /**
   * What was wrong with entries of the profile file when it was read last; empty when all is well.
   */
  get complaints(): readonly UserError[] {
    return this.broken.map(({ error }) => error);
  }

  /**
   * In the order of the profile file, `local` first, without entries that are wrong. UserError
   * (usage) when the file cannot be understood.
   */
  async list(): Promise<ClusterSession[]> {
    this.named = undefined;
    const { profiles, broken } = await this.store().contents();
    this.broken = broken;
    const named = new Set([...profiles, ...broken].map(({ name }) => name));
    this.named = named;
    for (const [name, { session, subscription }] of this.sessions) {
      if (named.has(name)) continue; // what is connected stays so while its entry is being edited
      subscription.dispose();
      session.dispose();
      this.sessions.delete(name);
    }
    return profiles.map((profile) => {
      const known = this.sessions.get(profile.name)?.session;
      if (known?.profile.kind === profile.kind) {
        known.profile = profile;
        return known;
      }
      known?.dispose();
      return this.own(new ClusterSession(profile, this.makeMachine, this.logger));
    });
  }

  /**
   * Whether the profile file names it, also in an entry that is wrong; undefined where the file was
   * not read yet, or could not be.
   */
  knows(name: string): boolean | undefined {
    return this.named?.has(name);
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
    old?.subscription.dispose();
    old?.session.dispose();
    this.own(session);
    this.changes.fire(undefined);
  }

  /** Profiles were added, edited or removed. */
  profilesChanged(): void {
    this.changes.fire(undefined);
  }

  dispose(): void {
    for (const { session, subscription } of this.sessions.values()) {
      subscription.dispose();
      session.dispose();
    }
    this.sessions.clear();
    this.changes.dispose();
  }

  private own(session: ClusterSession): ClusterSession {
    const subscription = session.onState(() => {
      this.changes.fire(undefined);
    });
    this.sessions.set(session.profile.name, { session, subscription });
    return session;
  }
}
