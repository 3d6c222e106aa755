// A connection that is dropped before the login is made again, and no more of them are made at once
// than a server takes.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cancelled } from '../../base/errors.js';
import { nullLogger, type Logger } from '../../base/log.js';
import { Dropped, failure } from './failures.js';
import { Limiter, type Slot } from './limiter.js';

const atOnce = 8;
const attempts = 7;
/** Milliseconds, doubled with each attempt. The pause is up to half longer or shorter. */
const firstPause = 250;
/** Milliseconds above which a pause is not doubled. */
const longestPause = 5000;

/**
 * Makes connections of one transport: 8 at once, and each up to 7 times where the server drops it.
 */
export class Attempts {
  private readonly limiter = new Limiter(atOnce);

  constructor(private readonly logger: Logger = nullLogger) {}

  /**
   * Whatever was refused is not tried again. `where` names the host. Cancelled; UserError
   * (connection) of `attempt`.
   */
  async persist<C>(where: string, attempt: (slot: Slot) => Promise<C>, signal: AbortSignal): Promise<C> {
    for (let count = 1; ; count++) {
      const slot = await this.limiter.acquire(signal);
      try {
        return await attempt(slot);
      } catch (error) {
        if (signal.aborted) throw new Cancelled();
        if (!(error instanceof Dropped)) throw error;
        this.logger.log('debug', `${where}: attempt ${count} was dropped: ${error.message}`);
        if (count === attempts) {
          throw failure(
            `${where} dropped ${attempts} connections before the login: ${error.message}`,
            { kind: 'connectLater', host: where },
            error,
          );
        }
      } finally {
        slot.release();
      }
      const pause = Math.min(longestPause, firstPause * 2 ** count) * (0.5 + Math.random());
      await sleep(pause, undefined, { signal }).catch(() => {
        throw new Cancelled();
      });
    }
  }
}
