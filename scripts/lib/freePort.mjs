// A port of this machine that nobody listens on.
import { createServer } from 'node:net';

/** @import { Server } from 'node:net' */

/**
 * The port that a server listens on.
 * @param {Server} server
 */
export function portOf(server) {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

/**
 * One on 127.0.0.1 that the system chose.
 * @returns {Promise<number>}
 */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const port = portOf(probe);
      probe.close(() => resolve(port));
    });
  });
}
