// Connections by the user's own ssh, for what ssh2 cannot: ProxyCommand, certificates, security
// keys, tokens, Kerberos.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { throwIfCancelled, UserError } from '../../base/errors.js';
import { nullLogger, type Logger } from '../../base/log.js';
import { Secrets } from '../auth/secrets.js';
import { Attempts } from '../base/attempts.js';
import { ownSurroundings, type SshConfig, type Surroundings } from '../config/config.js';
import { ConfigReader } from '../config/configReader.js';
import { HostKeyChecker } from '../hostKeys/checker.js';
import { HostKeyReview, type Arrival } from '../hostKeys/review.js';
import { TrustStore } from '../hostKeys/trustStore.js';
import { checkHops, JumpPool, lastHop, type Lease } from '../base/jumps.js';
import type { Slot } from '../base/limiter.js';
import type { Prompter, SshConnection, SshTarget, SshTransport, UnknownHostKey } from '../base/transport.js';
import { folderPrefix, removeAbandoned } from './abandoned.js';
import { checkTarget, masterArguments, throughJump } from './arguments.js';
import { Askpass } from './askpass.js';
import { connectFailure } from './complaints.js';
import { Conversation, givenUp, type Shared } from './conversation.js';
import { Master } from './master.js';
import { OpensshConnection } from './opensshConnection.js';
import { marksServers, versionOf } from './version.js';

/**
 * The name of a control socket gets 17 characters more while it is made, and 104 is all that some
 * systems take.
 */
const longestFolder = 70;

/** What connections by the user's own ssh need. */
export interface OpensshTransportOptions {
  prompter: Prompter;
  /** Trainyard's own folder, which holds the accepted host keys. */
  home: string;
  surroundings?: Surroundings;
  /** In place of the user's own SSH configuration. Never a path that a workspace names. */
  configFile?: string;
  /** The program, `ssh` where it is left out. */
  ssh?: string;
  logger?: Logger;
}

/** What one connection needs besides its target. */
interface Way {
  config: SshConfig;
  arrival: Arrival;
  jump: Lease<OpensshConnection> | undefined;
  signal: AbortSignal;
}

/** Owns its connections and what the user entered. */
export class OpensshTransport implements SshTransport {
  private readonly attempts: Attempts;
  private readonly configs: ConfigReader;
  private readonly jumps = new JumpPool<OpensshConnection>();
  private readonly review: HostKeyReview;
  private readonly store: TrustStore;
  private readonly shared: Shared;
  private readonly around: Surroundings;
  private readonly ssh: string;
  private readonly logger: Logger;
  private readonly lifetime = new AbortController();
  private readonly connections = new Set<OpensshConnection>();

  constructor(private readonly options: OpensshTransportOptions) {
    this.review = new HostKeyReview(options.prompter);
    this.store = new TrustStore(options.home);
    this.around = options.surroundings ?? ownSurroundings();
    this.ssh = options.ssh ?? 'ssh';
    let version: Promise<string> | undefined; // asked for with the first question
    this.shared = {
      secrets: new Secrets(options.prompter),
      passphrases: new Map(),
      marksServers: async () => marksServers(await (version ??= versionOf(this.ssh, this.around.env))),
    };
    const { configFile } = options;
    const source = { around: this.around, ssh: this.ssh };
    this.configs = new ConfigReader(configFile === undefined ? source : { ...source, configFile });
    this.logger = options.logger ?? nullLogger;
    this.attempts = new Attempts(this.logger);
  }

  /** UserError (connection, usage), Cancelled. */
  async connect(target: SshTarget, options: { signal?: AbortSignal } = {}): Promise<SshConnection> {
    if (process.platform === 'win32') {
      throw new UserError('usage', 'the ssh of Windows cannot share a connection', {
        kind: 'useSsh2',
        host: target.host,
      });
    }
    const signals = [this.lifetime.signal, ...(options.signal ? [options.signal] : [])];
    return this.open(target, AbortSignal.any(signals), 0);
  }

  dispose(): void {
    this.lifetime.abort();
    this.shared.passphrases.clear();
    for (const connection of [...this.connections]) connection.dispose();
  }

  private async open(target: SshTarget, signal: AbortSignal, depth: number): Promise<OpensshConnection> {
    checkTarget(target);
    const arrival = this.review.begin();
    let jump: Lease<OpensshConnection> | undefined;
    try {
      const config = await this.configs.read(target, signal);
      jump = await this.leaseJump(config, signal, depth);
      const way = { config, arrival, jump, signal };
      return await this.attempts.persist(target.host, (slot) => this.attempt(target, way, slot), signal);
    } catch (error) {
      jump?.release();
      throw error;
    } finally {
      arrival.done();
    }
  }

  /**
   * ssh would log in at the jump host once for each host behind it; so the way through it is a
   * channel of one login.
   */
  private async leaseJump(
    config: SshConfig,
    signal: AbortSignal,
    depth: number,
  ): Promise<Lease<OpensshConnection> | undefined> {
    if (config.proxyJump === undefined) return undefined;
    checkHops(config.host, depth + 1);
    const hop = lastHop(config.proxyJump, config.host);
    const jump = await this.configs.read(hop, signal);
    // As in ssh: a ProxyJump for all hosts does not stand in its own way.
    if (jump.hostName === config.hostName && jump.port === config.port && jump.user === config.user) {
      return undefined;
    }
    const key = JSON.stringify([jump.user, jump.hostName, jump.port, jump.host, jump.proxyJump]);
    return this.jumps.lease(
      key,
      (own) => this.open(hop, AbortSignal.any([own, this.lifetime.signal]), depth + 1),
      signal,
    );
  }

  private async attempt(target: SshTarget, way: Way, slot: Slot): Promise<OpensshConnection> {
    const { config, arrival, jump, signal } = way;
    throwIfCancelled(signal);
    const folder = await privateFolder();
    const control = join(folder, 'ssh');
    const { configFile } = this.options;
    const proxyCommand = jump && throughJump(this.ssh, jump.connection.control);
    const { strictHostKeys } = config;
    const knownHosts = [...new Set([this.store.path, ...config.userKnownHosts])];
    const options = { control, configFile, proxyCommand, knownHosts, strictHostKeys };
    const words = masterArguments(target, options);
    let master: Master | undefined;
    const giveUp = (): void => {
      master?.dispose();
    };
    const who = { host: config.host, user: config.user };
    const patiently = <T>(wait: () => Promise<T>): Promise<T> => slot.without(wait);
    const isTrusted = async (key: UnknownHostKey): Promise<boolean> =>
      (await HostKeyChecker.open(config, this.store, this.review)).askForSsh(key);
    const conversation = new Conversation(who, this.shared, isTrusted, patiently, giveUp);
    let askpass: Askpass | undefined;
    let connection: OpensshConnection | undefined;
    try {
      askpass = await Askpass.start(folder, conversation.answer);
      master = await Master.start({
        ssh: this.ssh,
        words,
        folder,
        control,
        env: this.environment(askpass.program),
      });
      signal.addEventListener('abort', giveUp, { once: true });
      if (signal.aborted) giveUp();
      const ready = await master.ready();
      throwIfCancelled(signal);
      if (!ready) throw givenUp(conversation) ?? connectFailure(config, master.complaints(), conversation);
      connection = this.keep(config, { folder, control, master }, jump);
      return connection;
    } catch (error) {
      conversation.forget();
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
      askpass?.dispose();
      arrival.done();
      if (!connection) {
        giveUp();
        await rm(folder, { recursive: true, force: true });
      }
    }
  }

  private keep(
    { host, hostName }: SshConfig,
    parts: { folder: string; control: string; master: Master },
    jump: Lease<OpensshConnection> | undefined,
  ): OpensshConnection {
    const connection: OpensshConnection = new OpensshConnection({
      ...parts,
      where: host,
      hostName,
      ssh: this.ssh,
      env: this.around.env,
      logger: this.logger,
      onGone: () => {
        this.connections.delete(connection);
        jump?.release();
      },
    });
    this.connections.add(connection);
    return connection;
  }

  private environment(askpass: string): NodeJS.ProcessEnv {
    const { env } = this.around;
    return {
      DISPLAY: ':0', // before OpenSSH 8.4 an askpass was used only where there seemed to be a screen
      ...env,
      SSH_ASKPASS: askpass,
      SSH_ASKPASS_REQUIRE: 'force',
      LC_ALL: 'C', // errors of the system in English, as the rest
    };
  }
}

async function privateFolder(): Promise<string> {
  const parent = tmpdir().length > longestFolder ? '/tmp' : tmpdir();
  await removeAbandoned(parent);
  const folder = await mkdtemp(join(parent, folderPrefix));
  await chmod(folder, 0o700);
  return folder;
}
