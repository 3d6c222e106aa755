// A node that this machine cannot log in to, or should not: its head's own ssh does, with the keys
// and known hosts that lie there.
import type { Duplex } from 'node:stream';
import { LineTail } from '../streams/lineTail.js';
import { connectionLost, failure, ForwardingForbidden } from './base/failures.js';
import type { SshChannel, SshConnection, SshShell, SshTarget, SshTransport } from './base/transport.js';

/** The head as this needs it. */
export interface Head {
  readonly name: string;
  connection(signal?: AbortSignal): Promise<SshConnection>;
  /** A program there; no shell reads its words. */
  run(argv: readonly string[], more?: { signal?: AbortSignal }): Promise<SshChannel>;
}

/**
 * Asks nothing, and gives up on a node that has gone. The head's own known hosts must hold its key,
 * whatever the configuration there says. Of that configuration nothing opens a way back to the
 * head.
 */
const options = [
  'BatchMode=yes',
  'StrictHostKeyChecking=yes',
  'NoHostAuthenticationForLocalhost=no',
  'VerifyHostKeyDNS=no',
  'ForwardAgent=no',
  'ForwardX11=no',
  'ClearAllForwardings=yes',
  'PermitLocalCommand=no',
  'ConnectTimeout=15',
  'ServerAliveInterval=5',
  'ServerAliveCountMax=3',
];

/**
 * Reaches one node by the ssh of its head. Owns nothing: the connection to the head is another's.
 */
export class ThroughHead implements SshTransport {
  /** `address`: the node's, as its head knows it. */
  constructor(
    private readonly head: Head,
    private readonly address: string,
  ) {}

  /** Each channel of the connection is a login of the head's. UserError (connection), Cancelled. */
  async connect(
    { host, port, user }: SshTarget,
    { signal }: { signal?: AbortSignal },
  ): Promise<SshConnection> {
    const words = [
      ...['ssh', '-T'],
      ...options.flatMap((option) => ['-o', option]),
      ...(port === undefined ? [] : ['-p', String(port)]),
      ...(user === undefined ? [] : ['-l', user]),
    ];
    const via = await this.head.connection(signal);
    const connection = new ConnectionThroughHead(host, this.head, via, words, this.address);
    await connection.tryLogin(signal);
    return connection;
  }

  dispose(): void {
    // the head's transport has the connection
  }
}

class ConnectionThroughHead implements SshConnection {
  readonly onClose: SshConnection['onClose'];
  private disposed = false;

  constructor(
    readonly where: string,
    private readonly head: Head,
    private readonly via: SshConnection,
    private readonly words: readonly string[],
    private readonly address: string,
  ) {
    this.onClose = (listener) =>
      via.onClose(() => {
        listener(connectionLost(where, undefined));
      });
  }

  get isClosed(): boolean {
    return this.disposed || this.via.isClosed;
  }

  async tryLogin(signal: AbortSignal | undefined): Promise<void> {
    const argv = [...this.words, '--', this.address, 'exit 0'];
    const channel = await this.head.run(argv, signal ? { signal } : {});
    const said = new LineTail();
    channel.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.push(text);
    });
    channel.stdout.resume();
    channel.stdin.end();
    const { code } = await channel.closed;
    channel.dispose();
    if (code === 0) return;
    const why = said.lines().at(-1) ?? `exit ${code ?? 'unknown'}`;
    throw failure(`${this.head.name} cannot log in to ${this.where}: ${why}`, {
      kind: 'loginFromHead',
      host: this.head.name,
      address: this.address,
    });
  }

  exec(command: string): Promise<SshChannel> {
    return this.head.run([...this.words, '--', this.address, command]);
  }

  shell(): Promise<SshShell> {
    const { where, head } = this;
    const what = `${where} is reached through ${head.name}, and a terminal on it would not follow the window's size`;
    return Promise.reject(failure(what, { kind: 'terminalOnHead', host: head.name, address: this.address }));
  }

  /**
   * `ssh -W` on the head would be a login for each connection, and a refusal would look like an
   * end.
   */
  forwardTcp(): Promise<Duplex> {
    return this.forwardsNothing();
  }

  forwardUnix(): Promise<Duplex> {
    return this.forwardsNothing();
  }

  private forwardsNothing(): Promise<never> {
    const { where, head } = this;
    return Promise.reject(
      new ForwardingForbidden(`${where} is reached by the ssh of ${head.name}, which does not forward`),
    );
  }

  dispose(): void {
    this.disposed = true;
  }
}
