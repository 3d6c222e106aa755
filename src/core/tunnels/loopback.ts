// A listener on this machine alone, on the port that was asked for or the next free one.
import type { Server } from 'node:net';
import { systemCode, UserError } from '../base/errors.js';

/** Never another one: what is behind a tunnel may have no authentication. */
export const loopback = '127.0.0.1';

/** Which port of this machine is wanted. */
export interface PortChoice {
  /** First port to try; the next ones follow while they are taken. 0: any. Default 6006. */
  port?: number;
  /** How many ports are tried. Default 100. */
  tries?: number;
}

/** Makes servers until one listens. UserError (preflight) when none of the ports is free. */
export async function listenOnLoopback<S extends Server>(make: () => S, choice: PortChoice): Promise<S> {
  const first = choice.port ?? 6006;
  const tries = first === 0 ? 1 : (choice.tries ?? 100);
  for (let port = first; port < first + tries && port <= 65535; port++) {
    const server = make();
    if (await listens(server, port)) return server;
  }
  const what = `none of the ports ${first} to ${first + tries - 1} on ${loopback} is free`;
  throw new UserError('preflight', what, 'End a program that listens there');
}

/** False when the port is taken. */
function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const code = systemCode(error);
      if (code === 'EADDRINUSE' || code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ host: loopback, port, exclusive: true }, () => {
      server.removeAllListeners('error');
      server.on('error', () => undefined); // an accept that failed (no descriptors left) must not end the program
      resolve(true);
    });
  });
}
