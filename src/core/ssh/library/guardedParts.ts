// The one way to the inner parts of ssh2. A part that is not as expected is left alone, and the log
// says so.
import type { Client } from 'ssh2';
import type { Logger } from '../../base/log.js';
import { hasMac, innerParts, knownVersion, type InnerPart } from './innerParts.js';
import { spareMemory } from './packetMemory.js';
import { Receiving } from './receivedMemory.js';
import { watchRefusals, type OnRefusal } from './refusals.js';
import { queueWhileRekeying } from './rekeying.js';

/** Changes clients of ssh2 where they can be changed. For all connections of one transport. */
export class GuardedParts {
  private readonly missed = new Set<InnerPart<unknown>>();

  /** `logger` gets one warning for each part that is not as expected, however many connections. */
  constructor(private readonly logger: Logger) {}

  /**
   * Calls back at each refusal of the server, before ssh2 itself heeds it. For a client that has
   * begun to connect. False where ssh2 is not as expected.
   */
  watchRefusals(client: Client, onRefusal: OnRefusal): boolean {
    return this.note(innerParts.refusals, watchRefusals(client, onRefusal));
  }

  /**
   * What else a connection is better with. For a client that is logged in. Returns what is known of
   * the bytes it receives, or undefined where ssh2 is not as expected.
   */
  improve(client: Client): Receiving | undefined {
    this.note(innerParts.exchange, queueWhileRekeying(client));
    if (!hasMac(client)) this.note(innerParts.cipher, spareMemory(client));
    const receiving = Receiving.of(client);
    this.note(innerParts.deciphers, receiving !== undefined);
    return receiving;
  }

  private note(part: InnerPart<unknown>, isUsed: boolean): boolean {
    if (!isUsed && !this.missed.has(part)) {
      this.missed.add(part);
      this.logger.log(
        'warn',
        `the ssh2 library is not as in version ${knownVersion} (${part.place}): ${part.without}`,
      );
    }
    return isUsed;
  }
}
