// SSH as a profile wants it, loaded when a connection is first asked for: nothing of it may cost
// time before.
import { Cancelled, errorText } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { Profile } from '../contracts/profileSchema.js';
import type { Surroundings } from './config/config.js';
import type { Prompter, SshConnection, SshTarget, SshTransport } from './base/transport.js';

/** What the transports of a profile share. */
export interface TransportOptions {
  prompter: Prompter;
  /** Trainyard's own folder, with the host keys that the user trusts. */
  home: string;
  logger: Logger;
  surroundings?: Surroundings;
  /** In place of the user's own SSH configuration. Never a path that a workspace names. */
  configFile?: string;
}

interface Loaded {
  ssh2: SshTransport | undefined;
  /** Whether an error says that only the user's own ssh will do. */
  needsOwn: (error: unknown) => boolean;
}

/**
 * The transport of a profile, by whichever library it needs. Owns the transports that it loads. The
 * connections that it gives belong to whoever asked for them.
 */
export class LazyTransport implements SshTransport {
  private loading: Promise<Loaded> | undefined;
  private own: Promise<SshTransport> | undefined;
  private readonly ownHosts = new Set<string>();
  private readonly made: SshTransport[] = [];
  private disposed = false;

  constructor(
    private readonly profile: Pick<Profile, 'transport'>,
    private readonly options: TransportOptions,
  ) {}

  /**
   * By ssh2, or by the user's own ssh: where the profile says so, and for hosts that ssh2 cannot
   * reach.
   */
  async connect(target: SshTarget, options: { signal?: AbortSignal }): Promise<SshConnection> {
    this.loading ??= this.load();
    const { ssh2, needsOwn } = await this.loading;
    if (ssh2 && !this.ownHosts.has(target.host)) {
      try {
        return await ssh2.connect(target, options);
      } catch (error) {
        if (!this.hasOwnSsh || !needsOwn(error)) throw error;
        this.options.logger.log(
          'info',
          `${target.host} is reached by the ssh of this machine: ${errorText(error)}`,
        );
        this.ownHosts.add(target.host);
      }
    }
    this.own ??= this.loadOwn();
    return (await this.own).connect(target, options);
  }

  /** Whether the user's own ssh may take a connection over. */
  private get hasOwnSsh(): boolean {
    return this.profile.transport !== 'ssh2' && process.platform !== 'win32';
  }

  dispose(): void {
    this.disposed = true;
    for (const transport of this.made) transport.dispose();
  }

  private async load(): Promise<Loaded> {
    if (this.profile.transport === 'openssh') return { ssh2: undefined, needsOwn: () => true };
    const [{ Ssh2Transport }, { NeedsOpenSsh }] = await Promise.all([
      import('./ssh2/ssh2Transport.js'),
      import('./base/failures.js'),
    ]);
    const ssh2 = this.keep(new Ssh2Transport({ ...this.options, hasOwnSsh: this.hasOwnSsh }));
    return { ssh2, needsOwn: (error) => error instanceof NeedsOpenSsh };
  }

  private async loadOwn(): Promise<SshTransport> {
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
