// A connection by the user's own ssh: one login, and each command or forward a channel of it.
import { rm } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { errorText } from '../../base/errors.js';
import { Emitter } from '../../base/lifecycle.js';
import { nullLogger, type Logger } from '../../base/log.js';
import { connectionLost, failure, ForwardingForbidden } from '../base/failures.js';
import type { SshChannel, SshConnection, SshShell } from '../base/transport.js';
import { channelArguments, reached, socketWord } from './arguments.js';
import { Channel } from './channel.js';
import { endsEmpty } from './endsEmpty.js';
import { runSsh, UnixForwards } from './forwards.js';
import type { Master } from './master.js';
import { shellCommand, TerminalShell, type Size } from './shell.js';

/** Milliseconds in which an end that has come is noticed here. */
const settleTime = 50;

/**
 * What a connection is made of. `control` is the path of the master's control socket, and `onGone`
 * is called once, when the connection has ended.
 */
export interface ConnectionParts {
  where: string;
  hostName: string;
  ssh: string;
  env: NodeJS.ProcessEnv;
  /** Private; the connection owns it. */
  folder: string;
  control: string;
  master: Master;
  logger?: Logger;
  onGone: () => void;
}

/** A connection by ssh. Owns the master, the folder and the channels. */
export class OpensshConnection implements SshConnection {
  readonly where: string;
  readonly hostName: string;
  private readonly lost = new Emitter<Error>();
  readonly onClose = this.lost.event;
  private readonly channels = new Set<Channel>();
  /** Sockets of the node to which a connection came about. */
  private readonly reachedPaths = new Set<string>();
  private readonly forwards: UnixForwards;
  private readonly logger: Logger;
  private closed = false;
  private count = 0;

  constructor(private readonly parts: ConnectionParts) {
    this.where = parts.where;
    this.hostName = parts.hostName;
    this.logger = parts.logger ?? nullLogger;
    this.forwards = new UnixForwards(
      (words) => runSsh(parts.ssh, ['-F', 'none', '-S', parts.control, ...words, ...reached], parts.env),
      (count) => join(parts.folder, `f${count}`),
      socketWord,
      this.where,
    );
    parts.master.onEnd(() => {
      if (this.closed) return;
      const said = parts.master.complaints().at(-1);
      this.release();
      this.lost.fire(connectionLost(this.where, said === undefined ? undefined : new Error(said)));
      this.lost.dispose();
    });
  }

  /** The socket by which another ssh has channels on it. */
  get control(): string {
    return this.parts.control;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  async exec(command: string): Promise<SshChannel> {
    return this.open(['-T'], [...reached, command], 'the command cannot be started');
  }

  async shell({ term, ...size }: Size & { term: string }): Promise<SshShell> {
    const { command, nonce } = shellCommand(size);
    const channel = await this.open(['-tt'], [...reached, command], 'the terminal cannot be opened', {
      TERM: term,
    });
    return new TerminalShell(channel, nonce, (line) => {
      this.quietly(line);
    });
  }

  async forwardTcp(host: string, port: number): Promise<Duplex> {
    const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    try {
      return (await this.open(['-W', place], reached, `${place} cannot be reached from there`)).toDuplex();
    } catch (error) {
      if (!/administratively prohibited/i.test(errorText(error))) throw error;
      throw new ForwardingForbidden(`sshd of ${this.where} forbids forwarding to ${place}`, error);
    }
  }

  /**
   * ssh itself accepts each connection, and closes it where the node then refuses: the first one is
   * looked at.
   */
  async forwardUnix(path: string): Promise<Duplex> {
    this.check();
    const socket = await this.forwards.connect(path);
    if (this.reachedPaths.has(path)) return socket;
    const refused = endsEmpty(socket);
    await this.roundTrip();
    if (await refused.isSo(settleTime)) {
      socket.destroy();
      throw failure(`${this.where} does not connect to ${path}`, 'Check that something listens there');
    }
    this.reachedPaths.add(path);
    return socket;
  }

  dispose(): void {
    if (this.closed) return;
    this.lost.dispose();
    this.release();
    this.parts.master.dispose();
  }

  /** Resolves when the node has answered what was asked of it before: it answers in order. */
  private async roundTrip(): Promise<void> {
    try {
      (await this.open(['-T'], [...reached, 'exit 0'], 'no answer')).dispose();
    } catch (error) {
      this.check();
      this.logger.log('debug', errorText(error)); // a refusal is an answer too
    }
  }

  private check(): void {
    if (this.closed) throw connectionLost(this.where, undefined);
  }

  private async open(
    options: readonly string[],
    rest: readonly string[],
    what: string,
    env: NodeJS.ProcessEnv = {},
  ): Promise<Channel> {
    this.check();
    const { ssh, control, folder } = this.parts;
    const log = join(folder, `c${++this.count}.log`);
    const words = [...channelArguments(control, log, ...options), ...rest];
    const channel = await Channel.open(ssh, words, {
      log,
      env: { ...this.parts.env, ...env },
      where: this.where,
      what,
    });
    if (this.closed) {
      channel.dispose();
      this.check();
    }
    this.channels.add(channel);
    void channel.closed.then(() => this.channels.delete(channel));
    return channel;
  }

  /** For a command whose failure only shows in the log. */
  private quietly(command: string): void {
    this.exec(command).then(
      (channel) => {
        channel.stdin.end();
        channel.stdout.resume();
        channel.stderr.resume();
      },
      (error: unknown) => {
        this.logger.log('debug', `${this.where}: ${command}: ${String(error)}`);
      },
    );
  }

  private release(): void {
    this.closed = true;
    for (const channel of this.channels) channel.dispose();
    const { folder, onGone } = this.parts;
    rmSync(folder, { recursive: true, force: true });
    // A channel that was being opened may write its file once more.
    void Promise.all([...this.channels].map((channel) => channel.closed)).then(() =>
      rm(folder, { recursive: true, force: true }),
    );
    onGone();
  }
}
