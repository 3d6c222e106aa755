// A connection to a node that is reached by a program of its head, each of its channels by one
// more.
import type { Duplex } from 'node:stream';
import { LineTail } from '../streams/lineTail.js';
import { connectionLost } from './base/failures.js';
import type { SshChannel, SshConnection, SshShell } from './base/transport.js';

/** The head as this needs it. */
export interface Head {
  readonly name: string;
  connection(signal?: AbortSignal): Promise<SshConnection>;
  /** A program there; no shell reads its words. */
  run(argv: readonly string[], more?: { signal?: AbortSignal }): Promise<SshChannel>;
}

/** The program, and what is said of what it cannot do. */
export interface ProgramWay {
  /** What runs on the head so that a shell of the node gets `command`. */
  words: (command: string) => string[];
  /** `why`: the program's last line. */
  refused: (why: string) => Error;
  noTerminal: Error;
  noForwarding: Error;
}

/** Owns nothing: `via`, the connection to the head, is another's. */
export class ProgramConnection implements SshConnection {
  readonly onClose: SshConnection['onClose'];
  private disposed = false;

  constructor(
    readonly where: string,
    private readonly head: Head,
    private readonly via: SshConnection,
    private readonly way: ProgramWay,
  ) {
    this.onClose = (listener) =>
      via.onClose(() => {
        listener(connectionLost(where, undefined));
      });
  }

  /** The head's name of it, behind which this machine does not look. */
  get hostName(): string {
    return this.where;
  }

  get isClosed(): boolean {
    return this.disposed || this.via.isClosed;
  }

  /** Rejects with `refused` where no command gets there. */
  async tryLogin(signal: AbortSignal | undefined): Promise<void> {
    const channel = await this.head.run(this.way.words('exit 0'), signal ? { signal } : {});
    const said = new LineTail();
    channel.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.push(text);
    });
    channel.stdout.resume();
    channel.stdin.end();
    const { code } = await channel.closed;
    channel.dispose();
    if (code === 0) return;
    throw this.way.refused(said.lines().at(-1) ?? `exit ${code ?? 'unknown'}`);
  }

  exec(command: string): Promise<SshChannel> {
    return this.head.run(this.way.words(command));
  }

  shell(): Promise<SshShell> {
    return Promise.reject(this.way.noTerminal);
  }

  forwardTcp(): Promise<Duplex> {
    return Promise.reject(this.way.noForwarding);
  }

  forwardUnix(): Promise<Duplex> {
    return Promise.reject(this.way.noForwarding);
  }

  dispose(): void {
    this.disposed = true;
  }
}
