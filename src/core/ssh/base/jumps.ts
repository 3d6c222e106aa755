// Jump hosts: one connection to each, shared by all that are reached through it.
import { orCancelled, UserError } from '../../base/errors.js';
import { failure } from './failures.js';
import type { SshConnection, SshTarget } from './transport.js';

const mostHops = 8;

/**
 * The right to use a shared connection. Whoever has the lease calls `release` once, and never
 * disposes the connection.
 */
export interface Lease<C extends SshConnection> {
  connection: C;
  release(): void;
}

interface Shared<C> {
  users: number;
  opening: Promise<C>;
  cancel: AbortController;
}

/** `[user@]host[:port]`, or `ssh://…`; undefined when it is neither. */
export function parseJump(text: string): SshTarget | undefined {
  const [, user, bracketed, plain, port] =
    /^(?:ssh:\/\/)?(?:([^@\s]+)@)?(?:\[([^\]\s]+)\]|([^:@[\]\s]+|[^@[\]\s]*:[^@[\]\s]*:[^@[\]\s]*))(?::(\d+))?\/?$/.exec(
      text,
    ) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || host.startsWith('-') || (user ?? '').startsWith('-')) return undefined;
  const number = port === undefined ? undefined : Number(port);
  if (number !== undefined && (number < 1 || number > 65_535)) return undefined;
  return {
    host,
    ...(user === undefined ? {} : { user }),
    ...(number === undefined ? {} : { port: number }),
  };
}

/** The hosts of a ProxyJump, in order. A hop that cannot be understood stands as it was written. */
export const jumpHosts = (proxyJump = ''): string[] =>
  proxyJump.split(',').map((hop) => parseJump(hop.trim())?.host ?? hop);

/**
 * The last hop of a ProxyJump; it is reached by those before it, or as its own configuration says.
 * UserError (usage).
 */
export function lastHop(proxyJump: string, host: string): SshTarget {
  const hops = proxyJump.split(',').map((hop) => hop.trim());
  const last = parseJump(hops.at(-1) ?? '');
  if (!last) {
    throw new UserError(
      'usage',
      `the jump host ${JSON.stringify(proxyJump)} of ${host} cannot be understood`,
      'Write [USER@]HOST[:PORT], several separated by commas',
    );
  }
  const before = hops.slice(0, -1).join(',');
  return before === '' ? last : { ...last, proxyJump: before };
}

/** UserError (connection) when a way has more jump hosts than anybody's. */
export function checkHops(host: string, jumps: number): void {
  if (jumps <= mostHops) return;
  throw failure(`the way to ${host} has more than ${mostHops} jump hosts`, 'Look for a loop in ProxyJump');
}

/** Keeps one connection for each way to a jump host, for as long as somebody has a lease on it. */
export class JumpPool<C extends SshConnection> {
  private readonly shared = new Map<string, Shared<C>>();

  /**
   * `open` is called for the first who wants it, and its signal fires when nobody does any more.
   */
  async lease(
    key: string,
    open: (signal: AbortSignal) => Promise<C>,
    signal?: AbortSignal,
  ): Promise<Lease<C>> {
    const entry = this.entry(key, open);
    entry.users++;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      if (--entry.users === 0) this.drop(key, entry);
    };
    try {
      const connection = await orCancelled(entry.opening, signal);
      return { connection, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  private entry(key: string, open: (signal: AbortSignal) => Promise<C>): Shared<C> {
    const known = this.shared.get(key);
    if (known) return known;
    const cancel = new AbortController();
    const entry: Shared<C> = { users: 0, opening: open(cancel.signal), cancel };
    this.shared.set(key, entry);
    const forget = (): void => {
      if (this.shared.get(key) === entry) this.shared.delete(key);
    };
    entry.opening.then((connection) => connection.onClose(forget), forget);
    return entry;
  }

  private drop(key: string, entry: Shared<C>): void {
    if (this.shared.get(key) === entry) this.shared.delete(key);
    entry.cancel.abort();
    entry.opening.then(
      (connection) => {
        connection.dispose();
      },
      () => undefined,
    );
  }
}
