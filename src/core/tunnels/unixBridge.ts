// A port on 127.0.0.1 that leads to a Unix socket: how a browser here reaches TensorBoard.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { errorText, systemCode, UserError } from '../errors.js';
import type { Disposable } from '../lifecycle.js';
import { nullLogger, type Logger } from '../log.js';

/** Never another one: what is behind the bridge may have no authentication. */
const loopback = '127.0.0.1';

export interface UnixBridgeOptions {
  socketPath: string;
  /** First port to try; the next ones follow while they are taken. */
  port?: number;
  tries?: number;
  logger?: Logger;
}

export class UnixBridge implements Disposable {
  private readonly open = new Set<{ browser: Socket; inner: Socket }>();
  private closedIn = 0;
  private closedOut = 0;

  private constructor(
    private readonly server: Server,
    private readonly socketPath: string,
    private readonly logger: Logger,
  ) {
    server.on('connection', (socket) => void this.serve(socket));
  }

  /** Listens, or throws UserError (preflight) when none of the ports is free. */
  static async open(options: UnixBridgeOptions): Promise<UnixBridge> {
    const first = options.port ?? 6006;
    const tries = first === 0 ? 1 : (options.tries ?? 100);
    for (let port = first; port < first + tries && port <= 65535; port++) {
      const server = createServer({ allowHalfOpen: true });
      if (await listens(server, port)) {
        return new UnixBridge(server, options.socketPath, options.logger ?? nullLogger);
      }
    }
    const what = `none of the ports ${first} to ${first + tries - 1} on ${loopback} is free`;
    throw new UserError('preflight', what, 'End a program that listens there');
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://${loopback}:${this.port}/`;
  }

  /** Bytes that came from browsers and went to the socket. */
  get bytesIn(): number {
    return [...this.open].reduce((sum, { browser }) => sum + browser.bytesRead, this.closedIn);
  }

  /** Bytes that went to browsers. */
  get bytesOut(): number {
    return [...this.open].reduce((sum, { browser }) => sum + browser.bytesWritten, this.closedOut);
  }

  get connections(): number {
    return this.open.size;
  }

  dispose(): void {
    this.server.close();
    for (const { browser, inner } of this.open) {
      browser.destroy();
      inner.destroy();
    }
  }

  private async serve(browser: Socket): Promise<void> {
    const inner = connect({ path: this.socketPath, allowHalfOpen: true });
    const pair = { browser, inner };
    this.open.add(pair);
    try {
      await Promise.all([pipeline(browser, inner), pipeline(inner, browser)]);
    } catch (error) {
      this.logger.log('debug', `bridge to ${this.socketPath}: ${errorText(error)}`);
    } finally {
      browser.destroy();
      inner.destroy();
      this.open.delete(pair);
      this.closedIn += browser.bytesRead;
      this.closedOut += browser.bytesWritten;
    }
  }
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
