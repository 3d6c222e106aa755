// SSH as a profile wants it, loaded when a connection is first asked for: nothing of it may cost time before.
import { Cancelled, UserError } from '../errors.js';
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
  private loading: Promise<SshTransport> | undefined;
  private disposed = false;

  constructor(
    private readonly profile: Pick<Profile, 'transport'>,
    private readonly options: TransportOptions,
  ) {}

  async connect(target: SshTarget, options: { signal?: AbortSignal }): Promise<SshConnection> {
    this.loading ??= this.load();
    return (await this.loading).connect(target, options);
  }

  dispose(): void {
    this.disposed = true;
    this.loading?.then(
      (transport) => {
        transport.dispose();
      },
      () => undefined,
    );
  }

  private async load(): Promise<SshTransport> {
    if (this.profile.transport === 'openssh') {
      const what = 'the profile asks for the transport openssh, which this version does not have';
      throw new UserError('usage', what, 'Set "transport" to "auto"');
    }
    const { Ssh2Transport } = await import('./ssh2Transport.js');
    if (this.disposed) throw new Cancelled('the cluster was disconnected');
    return new Ssh2Transport(this.options);
  }
}
