// SSH as a profile wants it, loaded when a connection is first asked for: nothing of it may cost time before.
import { Cancelled } from '../errors.js';
import type { Logger } from '../log.js';
import type { Profile } from '../profiles/schema.js';
import type { Prompter, SshConnection, SshTarget, SshTransport } from './transport.js';

export interface TransportOptions {
  prompter: Prompter;
  /** Trainyard's own folder, with the host keys that the user trusts. */
  home: string;
  logger: Logger;
}

export class LazyTransport implements SshTransport {
  private choosing: Promise<(target: SshTarget) => Promise<SshTransport>> | undefined;
  private readonly made: SshTransport[] = [];
  private disposed = false;

  constructor(
    private readonly profile: Pick<Profile, 'transport'>,
    private readonly options: TransportOptions,
  ) {}

  async connect(target: SshTarget, options: { signal?: AbortSignal }): Promise<SshConnection> {
    this.choosing ??= this.load();
    const choose = await this.choosing;
    return (await choose(target)).connect(target, options);
  }

  dispose(): void {
    this.disposed = true;
    for (const transport of this.made) transport.dispose();
  }

  /** ssh2, and the user's own ssh for hosts that it cannot reach; or the one that the profile names. */
  private async load(): Promise<(target: SshTarget) => Promise<SshTransport>> {
    const { transport: wanted = 'auto' } = this.profile;
    const { logger } = this.options;
    if (wanted === 'openssh') {
      const own = await this.own();
      return () => Promise.resolve(own);
    }
    const [{ Ssh2Transport }, { needsOpenSsh }] = await Promise.all([
      import('./ssh2Transport.js'),
      import('./config.js'),
    ]);
    const ssh2 = this.keep(new Ssh2Transport(this.options));
    let own: Promise<SshTransport> | undefined;
    return async (target) => {
      const reason = wanted === 'auto' ? needsOpenSsh(await ssh2.resolve(target)) : undefined;
      if (reason === undefined) return ssh2;
      logger.log('info', `${target.host} is reached by the ssh of this machine: ${reason}`);
      own ??= this.own();
      return own;
    };
  }

  private async own(): Promise<SshTransport> {
    const { OpensshTransport } = await import('./openssh/opensshTransport.js');
    return this.keep(new OpensshTransport(this.options));
  }

  private keep<T extends SshTransport>(transport: T): T {
    this.made.push(transport);
    if (!this.disposed) return transport;
    transport.dispose();
    throw new Cancelled('the cluster was disconnected');
  }
}
