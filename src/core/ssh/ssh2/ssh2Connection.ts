// A connection by ssh2 that is logged in.
import type { Duplex } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { errorText, UserError } from '../../base/errors.js';
import { Emitter, type Event } from '../../base/lifecycle.js';
import { markCopying } from '../../base/memory.js';
import { Ssh2Channel } from './channel.js';
import { ChannelGate } from '../base/channelGate.js';
import { connectionLost, failure, ForwardingForbidden } from '../base/failures.js';
import { keepaliveInterval } from './handshake.js';
import type { Receiving } from '../library/receivedMemory.js';
import type { SshChannel, SshConnection, SshShell } from '../base/transport.js';
import { Watchdog } from '../base/watchdog.js';

/** Milliseconds that a connection may take to say good-bye. */
const farewell = 2000;

type Reply = (error: Error | undefined, channel: ClientChannel) => void;

/** A connection of ssh2. Owns the client and its socket. */
export class Ssh2Connection implements SshConnection {
  private readonly closing = new Emitter<Error>();
  readonly onClose: Event<Error> = this.closing.event;
  private readonly gate: ChannelGate;
  private readonly watchdog: Watchdog;
  private readonly channels = new Set<ClientChannel>();
  private lastError: Error | undefined;
  private closed = false;
  private disposed = false;

  /** `release` is called once, when nothing of the connection is left. */
  constructor(
    private readonly client: Client,
    private readonly sock: Duplex,
    readonly where: string,
    readonly hostName: string,
    private readonly release: () => void,
    private readonly receiving: Receiving | undefined,
  ) {
    this.gate = new ChannelGate(where);
    this.watchdog = new Watchdog(sock, keepaliveInterval, () => {
      this.lastError ??= new Error('the other side does not answer any more');
      this.gone();
      sock.destroy();
    });
    client
      .on('error', (error) => {
        this.lastError ??= error;
      })
      .on('close', () => {
        this.gone();
      });
    if (sock.destroyed) this.gone();
  }

  get isClosed(): boolean {
    return this.closed || this.disposed;
  }

  async exec(command: string): Promise<SshChannel> {
    return new Ssh2Channel(
      await this.session((reply) => {
        this.client.exec(command, reply);
      }),
    );
  }

  async shell({ columns, rows, term }: { columns: number; rows: number; term: string }): Promise<SshShell> {
    return new Ssh2Channel(
      await this.session((reply) => {
        this.client.shell({ cols: columns, rows, term }, reply);
      }),
    );
  }

  async forwardTcp(host: string, port: number): Promise<Duplex> {
    try {
      return await this.forward((reply) => {
        this.client.forwardOut('127.0.0.1', 0, host, port, reply);
      });
    } catch (error) {
      throw this.forwardFailure(`${host} port ${port}`, error);
    }
  }

  async forwardUnix(path: string): Promise<Duplex> {
    try {
      return await this.forward((reply) => {
        this.client.openssh_forwardOutStreamLocal(path, reply);
      });
    } catch (error) {
      throw this.forwardFailure(path, error);
    }
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.closing.dispose();
    if (this.closed) return;
    this.client.end();
    const impatient = setTimeout(() => {
      this.sock.destroy();
      this.gone();
    }, farewell);
    impatient.unref();
    this.client.once('close', () => {
      clearTimeout(impatient);
    });
  }

  private session(open: (reply: Reply) => void): Promise<ClientChannel> {
    return this.gate.open(
      () => this.request(open).catch((error: unknown) => this.sessionFailure(error)),
      () => this.isClosed,
    );
  }

  private async forward(open: (reply: Reply) => void): Promise<Duplex> {
    const channel = await this.request(open);
    if (this.receiving?.isCopying === true) markCopying(channel);
    return channel;
  }

  /** One channel. Rejects when the connection goes away meanwhile. */
  private request(open: (reply: Reply) => void): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) {
        reject(connectionLost(this.where, this.lastError));
        return;
      }
      const onGone = this.closing.event(reject);
      open((error, channel) => {
        onGone.dispose();
        if (error) {
          reject(error);
          return;
        }
        this.channels.add(channel);
        channel.on('error', () => undefined); // its end is what readers see; the connection tells why
        channel.once('close', () => {
          this.channels.delete(channel);
          this.gate.free();
        });
        resolve(channel);
      });
    });
  }

  private sessionFailure(error: unknown): never {
    if (error instanceof UserError || /open failed|resource shortage/i.test(errorText(error))) throw error;
    throw failure(`${this.where} refuses to run a program: ${errorText(error)}`, loginAllowed, error);
  }

  private forwardFailure(what: string, error: unknown): UserError {
    if (error instanceof UserError) return error;
    if (isProhibited(error)) {
      return new ForwardingForbidden(`sshd of ${this.where} forbids forwarding to ${what}`, error);
    }
    return failure(
      `${this.where} does not connect to ${what}: ${errorText(error)}`,
      'Check that something listens there, and that sshd_config of that host allows forwarding',
      error,
    );
  }

  private gone(): void {
    if (this.closed) return;
    this.closed = true;
    this.watchdog.stop();
    const error = connectionLost(this.where, this.lastError);
    if (!this.disposed) this.closing.fire(error);
    this.closing.dispose();
    this.release();
  }
}

/** RFC 4254, 5.1: the reason of a channel that the server does not allow. */
const administrativelyProhibited = 1;

function isProhibited(error: unknown): boolean {
  return error instanceof Error && 'reason' in error && error.reason === administrativelyProhibited;
}

const loginAllowed = 'Check that this user may log in and run commands there';
