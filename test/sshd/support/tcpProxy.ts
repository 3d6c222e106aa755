// A link that can be slow, silent or broken: a TCP proxy on this machine.
import { createServer, connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface Faults {
  /** Each byte arrives this much later. */
  delayMs?: number;
  /** Each connection is reset once this many bytes have passed, both ways together. */
  cutAfter?: number;
  /** Each connection passes so much each way. */
  bytesPerSecond?: number;
}

export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private frozen = false;
  /** Connections that were taken so far. */
  accepted = 0;
  faults: Faults;

  private constructor(
    private readonly server: Server,
    private readonly target: { host: string; port: number },
    faults: Faults,
  ) {
    this.faults = faults;
  }

  static async start(
    target: { host: string; port: number },
    faults: Faults = {},
    address = '127.0.0.1',
  ): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy = new TcpProxy(server, target, faults);
    server.on('connection', (client) => {
      proxy.accept(client);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, address, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Nothing passes any more and nobody is told. */
  freeze(): void {
    this.frozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  thaw(): void {
    this.frozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Resets every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    ++this.accepted;
    const { delayMs = 0, cutAfter = Infinity, bytesPerSecond = Infinity } = this.faults;
    const server = connect({ ...this.target, allowHalfOpen: true });
    let passed = 0;
    const cut = (): void => {
      client.resetAndDestroy();
      server.resetAndDestroy();
    };
    const link = (): Transform =>
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const kept = chunk.subarray(0, Math.max(0, cutAfter - passed));
          passed += chunk.length;
          const deliver = (): void => {
            if (!this.destroyed) this.push(kept);
            if (passed >= cutAfter) setImmediate(cut);
          };
          if (delayMs === 0) deliver();
          else setTimeout(deliver, delayMs);
          if (bytesPerSecond === Infinity) done();
          else setTimeout(done, (chunk.length / bytesPerSecond) * 1000);
        },
        flush(done) {
          setTimeout(done, delayMs);
        },
      });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.on('error', () => to.destroy()); // a broken link is what this is for
      from.pipe(link()).pipe(to);
      if (this.frozen) from.pause();
    }
  }
}
