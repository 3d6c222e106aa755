// Connections from a node: by SSH's forwarding, or by a program there where the node's sshd forbids
// forwarding, or where the node is reached by the ssh of its head.
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { errorText, isCancelled } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/log.js';
import type { Bootstrap } from '../../setup/bootstrap.js';
import { ForwardProgram, placeText, type Place } from './forwardProgram.js';
import { ForwardingForbidden } from '../../ssh/base/failures.js';
import type { SshConnection } from '../../ssh/base/transport.js';

/**
 * The node that connections are made from, and the ways to it. `bootstrap` opens a channel that the
 * `Reach` owns.
 */
export interface ReachOptions {
  /** The node's name. */
  where: string;
  connection: () => Promise<SshConnection>;
  bootstrap: () => Promise<Bootstrap>;
  logger: Logger;
}

type Kind = 'unix' | 'tcp';

/**
 * sshd says the same of a Unix socket that it may not reach and of one where nobody listens. So a
 * socket that the program reaches right after sshd did not is a sign only: somebody may have begun
 * to listen in between. So many signs are a proof.
 */
const proof = 2;

/**
 * Milliseconds that an attempt waits for one before it: a place that swallows packets must not hold
 * up the others.
 */
const patience = 2000;

/** What is known of one way of forwarding on one connection. */
interface Seen {
  /** How often the program reached what forwarding did not; 0 again once forwarding works. */
  signs: number;
  works: boolean;
  /** The last attempt, while it is under way. */
  trial?: Promise<void> | undefined;
}

/**
 * Makes connections from one node, and remembers which way works. Owns the program; each connection
 * belongs to whoever asked for it.
 */
export class Reach implements Disposable {
  private readonly seen = new WeakMap<SshConnection, Record<Kind, Seen>>();
  private program: Promise<ForwardProgram> | undefined;

  constructor(private readonly options: ReachOptions) {}

  /**
   * UserError (connection) with the node's reason, ForwardingForbidden where neither way works,
   * Cancelled.
   */
  async connect(place: Place): Promise<Duplex> {
    const kind: Kind = 'path' in place ? 'unix' : 'tcp';
    const connection = await this.options.connection();
    const seen = this.seenOf(connection)[kind];
    // A refusal is a line in a log of sshd: until forwarding has worked, one is tried at a time.
    if (seen.trial && !seen.works && seen.signs === 0) {
      await Promise.race([seen.trial, delay(patience, undefined, { ref: false })]);
    }
    if (seen.signs >= proof || (seen.signs > 0 && seen.trial)) return this.byProgram(place, undefined);
    const stream = this.tried(connection, kind, place, seen);
    const trial = stream.then(
      () => undefined,
      () => undefined,
    );
    seen.trial = trial;
    try {
      return await stream;
    } finally {
      if (seen.trial === trial) seen.trial = undefined;
    }
  }

  dispose(): void {
    this.program?.then(
      (program) => {
        program.dispose();
      },
      () => undefined,
    );
    this.program = undefined;
  }

  /** By forwarding, and by the program where that fails. */
  private async tried(connection: SshConnection, kind: Kind, place: Place, seen: Seen): Promise<Duplex> {
    try {
      const stream = await ('path' in place
        ? connection.forwardUnix(place.path)
        : connection.forwardTcp(place.host, place.port));
      seen.signs = 0;
      seen.works = true;
      return stream;
    } catch (error) {
      if (connection.isClosed) throw error;
      const stream = await this.byProgram(place, error);
      this.sign(kind, seen, error);
      return stream;
    }
  }

  private seenOf(connection: SshConnection): Record<Kind, Seen> {
    const known = this.seen.get(connection);
    if (known) return known;
    const seen = { unix: { signs: 0, works: false }, tcp: { signs: 0, works: false } };
    this.seen.set(connection, seen);
    return seen;
  }

  /** The program has reached what forwarding did not, by this error. */
  private sign(kind: Kind, seen: Seen, error: unknown): void {
    const before = seen.signs;
    seen.signs = error instanceof ForwardingForbidden ? proof : before + 1;
    if (before >= proof || seen.signs < proof) return;
    const { where, logger } = this.options;
    const what = kind === 'unix' ? 'to Unix sockets' : 'over TCP';
    logger.log('info', `${where}: a program there connects ${what} (${errorText(error)})`);
  }

  /** `refusal`: why forwarding did not do it. */
  private async byProgram(place: Place, refusal: unknown): Promise<Duplex> {
    let program: ForwardProgram;
    try {
      program = await this.started();
    } catch (error) {
      if (isCancelled(error)) throw error;
      const why = refusal === undefined ? '' : ` (${errorText(refusal)})`;
      throw new ForwardingForbidden(
        `${this.options.where} does not forward to ${placeText(place)}${why}, and the program that would connect instead cannot be started: ${errorText(error)}`,
        error,
      );
    }
    return program.connect(place);
  }

  /** One at a time, also for calls at the same time. */
  private started(): Promise<ForwardProgram> {
    const before = this.program?.catch(() => undefined);
    this.program = (async () => {
      const known = await before;
      return known && !known.isClosed ? known : this.start();
    })();
    return this.program;
  }

  private async start(): Promise<ForwardProgram> {
    const bootstrap = await this.options.bootstrap();
    return new ForwardProgram(bootstrap.become('forward', {}), this.options.where);
  }
}
