// A server gives a connection some channels at once (MaxSessions, 10 by default): who finds none
// waits for one to be freed.
import { errorText } from '../../base/errors.js';
import { failure } from './failures.js';

/** Milliseconds for which a channel is waited for. */
const patience = 20_000;
/** Milliseconds between two looks for a free channel. */
const pollInterval = 1000;

/** The server's answer to a request for a channel that it has no room for. */
const isFull = (error: unknown): boolean => /open failed|resource shortage/i.test(errorText(error));

/** Opens the channels of one connection, and lets those wait for which the server has no room. */
export class ChannelGate {
  private readonly waiting = new Set<() => void>();

  constructor(private readonly where: string) {}

  /** UserError (connection) when none is freed in time. */
  async open<T>(request: () => Promise<T>, isGone: () => boolean): Promise<T> {
    const end = Date.now() + patience;
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (!isFull(error) || isGone()) throw error;
        if (Date.now() >= end) {
          throw failure(
            `all channels of the connection to ${this.where} are in use`,
            'Close a terminal or a tunnel there, or let its administrator raise MaxSessions in sshd_config',
            error,
          );
        }
      }
      await this.freed();
    }
  }

  /** A channel of this connection was closed. */
  free(): void {
    const [first] = this.waiting;
    first?.();
  }

  /** Also looks again by itself: channels that others hold are freed without a word. */
  private freed(): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        this.waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, pollInterval);
      this.waiting.add(go);
    });
  }
}
