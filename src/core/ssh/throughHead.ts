// A node that this machine cannot log in to, or should not: its head's own ssh does, with the keys
// and known hosts that lie there.
import { failure, ForwardingForbidden } from './base/failures.js';
import type { SshConnection, SshTarget, SshTransport } from './base/transport.js';
import { ProgramConnection, type Head } from './programConnection.js';

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
    const { head, address } = this;
    const remedy = { host: head.name, address };
    const terminal = `${host} is reached through ${head.name}, and a terminal on it would not follow the window's size`;
    const connection = new ProgramConnection(host, head, await head.connection(signal), {
      words: (command) => [...words, '--', address, command],
      refused: (why) =>
        failure(`${head.name} cannot log in to ${host}: ${why}`, { kind: 'loginFromHead', ...remedy }),
      noTerminal: failure(terminal, { kind: 'terminalOnHead', ...remedy }),
      // `ssh -W` on the head would be a login for each connection, and a refusal would look like an
      // end.
      noForwarding: new ForwardingForbidden(
        `${host} is reached by the ssh of ${head.name}, which does not forward`,
      ),
    });
    await connection.tryLogin(signal);
    return connection;
  }

  dispose(): void {
    // the head's transport has the connection
  }
}
