// An HTTP server of a test at 127.0.0.1.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
  port: number;
  /** Connections that are still open are ended. */
  close: () => Promise<void>;
}

/** Listens on a free port. */
export async function listening(server: Server): Promise<Listening> {
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => {
          closed();
        });
      }),
  };
}
