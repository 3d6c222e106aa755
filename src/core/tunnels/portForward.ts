// A port of this machine that leads to a port on a node, or to one that the node reaches. Comes
// back by itself after a cut.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import { free, freePacket, isCopying } from '../base/memory.js';
import { freeWritten, gatherWrites } from '../streams/writes.js';
import { listenOnLoopback, loopback, type PortChoice } from './loopback.js';

/** Bytes that may wait for a local program. The channel is paused while more of them wait. */
const localBuffer = 256 * 1024;

/** Whether the last connection got through. */
export type TunnelState = 'open' | 'failing';

/** Where a tunnel leads. The tunnel owns the channels that `connect` makes. */
export interface PortForwardOptions extends PortChoice {
  /** A new channel to the other end. */
  connect: () => Promise<Duplex>;
  /** The other end, for people. */
  remote: string;
  logger?: Logger;
}

/** A listening port of this machine. Whoever opened it disposes it. */
export class PortForward implements Disposable {
  readonly port: number;
  private readonly sockets = new Set<Duplex>();
  private sent = 0;
  private received = 0;
  private problem: unknown;

  private constructor(
    private readonly server: Server,
    private readonly options: PortForwardOptions,
    private readonly logger: Logger,
  ) {
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => void this.pass(socket));
  }

  /** Listens on 127.0.0.1 only. UserError (preflight) when none of the ports is free. */
  static async open(options: PortForwardOptions): Promise<PortForward> {
    const server = await listenOnLoopback(
      () => createServer({ allowHalfOpen: true, highWaterMark: localBuffer }),
      options,
    );
    return new PortForward(server, options, options.logger ?? nullLogger);
  }

  get local(): string {
    return `${loopback}:${this.port}`;
  }

  get remote(): string {
    return this.options.remote;
  }

  /** `failing` from the first connection that did not get through to the next that does. */
  get state(): TunnelState {
    return this.problem === undefined ? 'open' : 'failing';
  }

  get lastProblem(): unknown {
    return this.problem;
  }

  get bytesOut(): number {
    return this.sent;
  }

  get bytesIn(): number {
    return this.received;
  }

  get connections(): number {
    return this.sockets.size / 2;
  }

  dispose(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private async pass(socket: Socket): Promise<void> {
    let channel: Duplex;
    socket.on('error', () => undefined); // pipeline tells it
    try {
      channel = await this.options.connect();
      this.problem = undefined;
    } catch (error) {
      this.problem = error;
      this.logger.log('warn', `tunnel ${this.local} to ${this.remote}: ${errorText(error)}`);
      socket.destroy();
      return;
    }
    if (socket.destroyed || !this.server.listening) {
      socket.destroy(); // one of them was closed while this was connected
      channel.destroy();
      return;
    }
    this.sockets.add(socket).add(channel);
    gatherWrites(socket);
    if (isCopying(channel)) {
      freeWritten(socket, freePacket);
      freeWritten(channel, free);
    }
    socket.on('data', (chunk: Buffer) => (this.sent += chunk.length));
    channel.on('data', (chunk: Buffer) => (this.received += chunk.length));
    try {
      await Promise.all([pipeline(socket, channel, { end: true }), pipeline(channel, socket, { end: true })]);
    } catch (error) {
      this.logger.log('debug', `tunnel ${this.local} to ${this.remote}: ${errorText(error)}`);
    } finally {
      socket.destroy();
      channel.destroy();
      this.sockets.delete(socket);
      this.sockets.delete(channel);
    }
  }
}
