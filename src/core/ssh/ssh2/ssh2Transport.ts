// Connections by ssh2, as the user's own SSH configuration describes them.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Cancelled, throwIfCancelled, UserError } from '../../base/errors.js';
import { nullLogger, type Logger } from '../../base/log.js';
import { trainyardHome } from '../../profiles/store.js';
import { Attempts } from '../base/attempts.js';
import { loadIdentities } from '../auth/identities.js';
import { keyForOwnSsh as ownKey } from '../auth/ownSshKeys.js';
import { Secrets } from '../auth/secrets.js';
import { needsOpenSsh, ownSurroundings, type SshConfig, type Surroundings } from '../config/config.js';
import { ConfigReader } from '../config/configReader.js';
import { gaveNoAnswer, NeedsOpenSsh, placeText, socketFailure, type Place } from '../base/failures.js';
import { GatheringSocket } from './gatheringSocket.js';
import { login } from './handshake.js';
import { HostKeyChecker } from '../hostKeys/checker.js';
import { HostKeyReview, type Arrival } from '../hostKeys/review.js';
import { TrustStore } from '../hostKeys/trustStore.js';
import { checkHops, JumpPool, lastHop, type Lease } from '../base/jumps.js';
import { GuardedParts } from '../library/guardedParts.js';
import { loadSsh2 } from '../library/loadSsh2.js';
import type { Slot } from '../base/limiter.js';
import { Ssh2Connection } from './ssh2Connection.js';
import type { Prompter, SshConnection, SshTarget, SshTransport } from '../base/transport.js';

/**
 * Milliseconds, enough for the fourth attempt of TCP; what heals later is met by the next
 * connection sooner than by the fifth.
 */
const connectPatience = 8_000;

/** What connections by ssh2 need. */
export interface Ssh2TransportOptions {
  prompter: Prompter;
  /** Trainyard's own folder, which holds the accepted host keys. */
  home?: string;
  surroundings?: Surroundings;
  /** In place of the user's own SSH configuration. Never a path that a workspace names. */
  configFile?: string;
  logger?: Logger;
  /** Whether the user's own ssh may take a connection over. */
  hasOwnSsh?: boolean;
}

/**
 * Owns the jump connections and what the user entered; the connections it gives belong to who asked
 * for them.
 */
export class Ssh2Transport implements SshTransport {
  private readonly logger: Logger;
  private readonly attempts: Attempts;
  private readonly configs: ConfigReader;
  private readonly jumps = new JumpPool<Ssh2Connection>();
  private readonly secrets: Secrets;
  private readonly review: HostKeyReview;
  private readonly store: TrustStore;
  private readonly parts: GuardedParts;
  private readonly lifetime = new AbortController();
  private readonly connections = new Set<Ssh2Connection>();

  private readonly hasOwnSsh: boolean;

  constructor({ prompter, home, surroundings, configFile, logger, hasOwnSsh = false }: Ssh2TransportOptions) {
    this.hasOwnSsh = hasOwnSsh;
    const around = surroundings ?? ownSurroundings();
    this.secrets = new Secrets(prompter);
    this.review = new HostKeyReview(prompter);
    this.store = new TrustStore(home ?? trainyardHome(around.env));
    this.configs = new ConfigReader(configFile === undefined ? { around } : { around, configFile });
    this.logger = logger ?? nullLogger;
    this.attempts = new Attempts(this.logger);
    this.parts = new GuardedParts(this.logger);
  }

  /** UserError (connection, usage; NeedsOpenSsh where ssh2 cannot do it), Cancelled. */
  async connect(target: SshTarget, options: { signal?: AbortSignal } = {}): Promise<SshConnection> {
    const signals = [this.lifetime.signal, ...(options.signal ? [options.signal] : [])];
    const signal = AbortSignal.any(signals);
    const arrival = this.review.begin();
    try {
      return await this.open(await this.route(target, signal), arrival, signal);
    } finally {
      arrival.done();
    }
  }

  /**
   * What the user's configuration and the profile say of a host. UserError (usage, connection),
   * Cancelled.
   */
  resolve(target: SshTarget, signal?: AbortSignal): Promise<SshConfig> {
    return this.configs.read(target, signal);
  }

  dispose(): void {
    this.lifetime.abort();
    this.secrets.forget();
    for (const connection of [...this.connections]) connection.dispose();
  }

  /**
   * The host, and those it is reached through; the last is reached from here. UserError, Cancelled.
   */
  private async route(target: SshTarget, signal: AbortSignal): Promise<SshConfig[]> {
    const route: SshConfig[] = [];
    for (let next: SshTarget | undefined = target; next !== undefined;) {
      checkHops(target.host, route.length);
      const config: SshConfig = await this.resolve(next, signal);
      const reason = needsOpenSsh(config);
      if (reason !== undefined) throw new NeedsOpenSsh(config.host, reason);
      route.push(config);
      next = config.proxyJump === undefined ? undefined : lastHop(config.proxyJump, config.host);
    }
    return route;
  }

  private async open(
    [config, ...jumps]: readonly SshConfig[],
    arrival: Arrival,
    signal: AbortSignal,
  ): Promise<Ssh2Connection> {
    if (config === undefined) throw new Error('a route without hosts');
    let lease: Lease<Ssh2Connection> | undefined;
    try {
      lease = jumps.length === 0 ? undefined : await this.lease(jumps, signal);
      const place: Place = { where: config.host, hostName: config.hostName, port: config.port };
      const through = lease;
      return await this.attempts.persist(
        placeText(place),
        (slot) => this.attempt(config, place, through, arrival, slot, signal),
        signal,
      );
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  private lease(jumps: readonly SshConfig[], signal: AbortSignal): Promise<Lease<Ssh2Connection>> {
    const key = JSON.stringify(jumps.map(({ user, hostName, port, host }) => [user, hostName, port, host]));
    return this.jumps.lease(
      key,
      async (own) => {
        const arrival = this.review.begin();
        try {
          return await this.open(jumps, arrival, AbortSignal.any([own, this.lifetime.signal]));
        } finally {
          arrival.done();
        }
      },
      signal,
    );
  }

  private async attempt(
    config: SshConfig,
    place: Place,
    lease: Lease<Ssh2Connection> | undefined,
    arrival: Arrival,
    slot: Slot,
    signal: AbortSignal,
  ): Promise<Ssh2Connection> {
    const ssh2 = await loadSsh2();
    const checker = await HostKeyChecker.open(config, this.store, this.review);
    const identities = await loadIdentities(ssh2, config, this.secrets, signal);
    for (const problem of identities.problems) this.logger.log('info', `${config.host}: ${problem}`);
    const sock = await this.reach(place, lease, signal);
    const address =
      'remoteAddress' in sock && typeof sock.remoteAddress === 'string' ? sock.remoteAddress : place.hostName;
    const { secrets, parts } = this;
    const keyForOwnSsh = this.hasOwnSsh ? () => ownKey(config) : undefined;
    const given = {
      ssh2,
      config,
      place,
      sock,
      address,
      checker,
      arrival,
      identities,
      slot,
      signal,
      keyForOwnSsh,
    };
    const client = await login({ ...given, secrets, parts });
    const receiving = parts.improve(client);
    if (receiving !== undefined && sock instanceof GatheringSocket) sock.reuseMemory(receiving);
    const release = (): void => {
      this.connections.delete(connection);
      lease?.release();
    };
    const connection: Ssh2Connection = new Ssh2Connection(
      client,
      sock,
      config.host,
      config.hostName,
      release,
      receiving,
    );
    this.connections.add(connection);
    return connection;
  }

  private async reach(
    place: Place,
    lease: Lease<Ssh2Connection> | undefined,
    signal: AbortSignal,
  ): Promise<Duplex> {
    throwIfCancelled(signal);
    if (!lease) return openSocket(place, signal);
    return inTime(lease.connection.forwardTcp(place.hostName, place.port), place, signal);
  }
}

/** The jump host waits minutes for a host that is silent. A channel that comes late is closed. */
function inTime(opening: Promise<Duplex>, place: Place, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const finish = (act: () => void): void => {
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      act();
    };
    const fail = (error: unknown): void => {
      finish(() => {
        reject(error instanceof Error ? error : new Error(String(error)));
      });
    };
    const cancel = (): void => {
      fail(new Cancelled());
    };
    const timer = setTimeout(() => {
      fail(gaveNoAnswer(place));
    }, connectPatience);
    signal.addEventListener('abort', cancel, { once: true });
    opening.then((channel) => {
      if (isOver) channel.destroy();
      else {
        finish(() => {
          resolve(channel);
        });
      }
    }, fail);
  });
}

function openSocket(place: Place, signal: AbortSignal): Promise<Socket> {
  const socket = new GatheringSocket().setNoDelay(true);
  socket.connect({ host: place.hostName, port: place.port });
  return new Promise((resolve, reject) => {
    const finish = (act: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      socket.off('error', fail);
      act();
    };
    const fail = (error: Error): void => {
      finish(() => {
        socket.on('error', () => undefined); // an end that is our own doing
        socket.destroy();
        reject(
          error instanceof Cancelled || error instanceof UserError ? error : socketFailure(place, error),
        );
      });
    };
    const cancel = (): void => {
      fail(new Cancelled());
    };
    const timer = setTimeout(() => {
      fail(gaveNoAnswer(place));
    }, connectPatience);
    signal.addEventListener('abort', cancel, { once: true });
    socket.once('error', fail);
    socket.once('connect', () => {
      finish(() => {
        resolve(socket);
      });
    });
  });
}
