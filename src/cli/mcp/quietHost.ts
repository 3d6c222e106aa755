// Machines for a program that cannot ask the user anything about a login.
import { isCancelled, UserError } from '../../core/base/errors.js';
import { type Disposable } from '../../core/base/lifecycle.js';
import type { Machine } from '../../core/cluster/nodes/machine.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { ToolHost } from '../../core/assist/toolHost.js';
import type { RunBook } from '../../core/profiles/runBook.js';
import type { ProfileStore } from '../../core/profiles/store.js';
import type { Prompter } from '../../core/ssh/base/transport.js';
import { adviceText } from '../remedies.js';

/** A profile's machine, and what its login asked last. */
interface Kept {
  machine: Machine;
  profile: string;
  refused: UserError | undefined;
}

/** Owns the machines. A profile that was edited gets a new one. */
export class QuietHost implements ToolHost, Disposable {
  private readonly kept = new Map<string, Kept>();
  readonly adviceText = adviceText;

  constructor(
    readonly profiles: ProfileStore,
    readonly book: RunBook,
    readonly note: ToolHost['note'],
    readonly cwd: string,
    private readonly make: (profile: Profile, prompter: Prompter) => Machine,
  ) {}

  async machine(profile: Profile): Promise<Machine> {
    const text = JSON.stringify(profile);
    let kept = this.kept.get(profile.name);
    if (kept?.profile !== text) {
      kept?.machine.dispose();
      kept = this.open(profile, text);
      this.kept.set(profile.name, kept);
    }
    kept.refused = undefined;
    try {
      await kept.machine.node.client();
    } catch (error) {
      throw isUnanswered(error) ? (refusalOf(kept) ?? error) : error;
    }
    return kept.machine;
  }

  dispose(): void {
    for (const { machine } of this.kept.values()) machine.dispose();
  }

  private open(profile: Profile, text: string): Kept {
    const prompter: Prompter = {
      secret: ({ user, host, kind }) => {
        kept.refused = new UserError(
          'connection',
          `${user}@${host} asks for a ${kind}, and nothing secret is asked here`,
          'Let a key agent hold the key (ssh-add), or use a key without a passphrase',
        );
        return Promise.resolve(undefined);
      },
      trust: ([unknown]) => {
        const where = unknown === undefined ? profile.name : unknown.host;
        kept.refused = new UserError(
          'connection',
          `the host key of ${where} is not known, and nothing is accepted here`,
          `Connect once in a terminal: trainyard trust ${profile.name}`,
        );
        return Promise.resolve(false);
      },
    };
    const kept: Kept = { machine: this.make(profile, prompter), profile: text, refused: undefined };
    return kept;
  }
}

/** Asked by a function, for it was set meanwhile. */
const refusalOf = ({ refused }: Kept): UserError | undefined => refused;

/** A login that was given up, or failed, because its question had no answer. */
const isUnanswered = (error: unknown): boolean =>
  isCancelled(error) || (error instanceof UserError && error.code === 'connection');
