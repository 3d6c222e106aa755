// New keys in the middle of a connection, as servers ask for after some bytes or an hour. ssh2 1.17
// takes its key exchange for ended when it has the server's answer, but goes over to the new keys
// only with the message after that. What is written in between it puts together as if it were to be
// queued, sends it at once all the same, and the server ends the connection: "Bad packet length".
import type { Client } from 'ssh2';
import { innerParts } from './innerParts.js';

/** What `_kexinit` is while keys are exchanged; only whether it is there counts. */
const busy = Buffer.alloc(0);

/**
 * From now on that time counts as part of the exchange, so that packets wait for the new keys.
 * False where ssh2 is not as expected.
 */
export function queueWhileRekeying(client: Client): boolean {
  const protocol = innerParts.exchange.find(client);
  if (protocol === undefined) return false;
  const writers = protocol._packetRW;
  let exchange: unknown;
  /**
   * The writer of before has been told to leave no room for a header; the one of after leaves it.
   */
  const isBetween = (): boolean => writers.write.allocStart === 0;
  Object.defineProperty(protocol, '_kexinit', {
    get: () => exchange ?? (isBetween() ? busy : undefined),
    set: (value: unknown) => {
      exchange = value;
    },
    enumerable: true,
    configurable: true,
  });
  return true;
}
