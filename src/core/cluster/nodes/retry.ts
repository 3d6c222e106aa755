// When a lost connection is tried again: soon, then ever more seldom; at once after sleep; never
// where a person was asked in vain.
import { errorText, isCancelled, remedyOf, UserError } from '../../base/errors.js';
import { Unreached } from '../../ssh/base/failures.js';
import type { Prompter, SecretRequest, UnknownHostKey } from '../../ssh/base/transport.js';

/** Passes questions on and remembers about which hosts they were. */
export class Questions implements Prompter {
  private readonly hosts = new Set<string>();

  constructor(private readonly inner: Prompter) {}

  /** Whether a person was asked about this host since the last call. */
  takeAsked(host: string): boolean {
    return this.hosts.delete(host);
  }

  secret(request: SecretRequest): Promise<string | undefined> {
    this.hosts.add(request.host);
    return this.inner.secret(request);
  }

  trust(unknown: readonly UnknownHostKey[]): Promise<boolean> {
    for (const { host } of unknown) this.hosts.add(host);
    return this.inner.trust(unknown);
  }
}

/** Milliseconds, doubled with each failure. The pause is up to a quarter longer or shorter. */
const firstPause = 500;
/** Milliseconds. */
const longestPause = 30_000;
/**
 * To a host that nobody reaches: it costs it nothing, and a link that heals is used within 10 s.
 */
const longestUnreached = 3_000;
/**
 * Callers ask about once a second: a longer silence means that this machine slept, or that nobody
 * looked.
 */
const silence = 15_000;

/** Says when one host may be tried again. `now` is in milliseconds since the epoch. */
export class RetryPolicy {
  private pause = 0;
  private notBefore = 0;
  private lastAsk = 0;
  private last: unknown;
  private refusal: UserError | undefined;

  /**
   * Throws the last failure when it is too early for another attempt, or when only a person can
   * help.
   */
  admit(now = Date.now()): void {
    if (this.refusal) throw this.refusal;
    const slept = now - this.lastAsk > silence;
    this.lastAsk = now;
    if (slept) this.notBefore = 0;
    if (now < this.notBefore) throw this.last;
  }

  succeeded(): void {
    this.pause = 0;
    this.notBefore = 0;
    this.last = undefined;
  }

  /**
   * `asked`: a person was asked during this attempt, and must not be asked the same again by
   * itself. An attempt that somebody gave up, without having been asked, says nothing of the host.
   */
  failed(error: unknown, asked: boolean, host: string, now = Date.now()): void {
    if (isCancelled(error) && !asked) return;
    if (asked) {
      const what = `the login to ${host} did not succeed: ${errorText(error)}`;
      const first = remedyOf(error);
      const hint = { kind: 'askAgain', host, ...(first ? { first } : {}) } as const;
      this.refusal = new UserError('connection', what, hint);
    }
    this.last = error;
    const longest = error instanceof Unreached ? longestUnreached : longestPause;
    this.pause = Math.min(longest, Math.max(firstPause, this.pause * 2));
    this.notBefore = now + this.pause * (0.75 + Math.random() / 2);
  }
}
