// Connections by ssh2, as the user's own SSH configuration describes them.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cancelled, throwIfCancelled, UserError } from '../errors.js';
import { nullLogger, type Logger } from '../log.js';
import { trainyardHome } from '../profiles/store.js';
import { loadIdentities } from './auth/identities.js';
import { Secrets } from './auth/secrets.js';
import { needsOpenSsh, ownSurroundings, sshConfig, type SshConfig, type Surroundings } from './config.js';
import { readSettings, type ConfigSourceOptions } from './configSource.js';
import {
  Dropped,
  failure,
  gaveNoAnswer,
  NeedsOpenSsh,
  placeText,
  socketFailure,
  type Place,
} from './failures.js';
import { GatheringSocket } from './gatheringSocket.js';
import { login } from './handshake.js';
import { HostKeyChecker } from './hostKeys/checker.js';
import { HostKeyReview, type Arrival } from './hostKeys/review.js';
import { TrustStore } from './hostKeys/trustStore.js';
import { JumpPool, lastHop, type Lease } from './jumps.js';
import { loadSsh2 } from './library.js';
import { Limiter, type Slot } from './limiter.js';
import { Ssh2Connection } from './ssh2Connection.js';
import type { Prompter, SshConnection, SshTarget, SshTransport } from './transport.js';

const atOnce = 8;
const attempts = 7;
const firstPause = 250;
const longestPause = 5000;
/** Long enough for the fourth attempt of TCP; what heals later is met by the next connection sooner than by the fifth. */
const connectPatience = 8_000;
const mostHops = 8;

export interface Ssh2TransportOptions {
  prompter: Prompter;
  /** Trainyard's own folder, which holds the accepted host keys. */
  home?: string;
  surroundings?: Surroundings;
  /** In place of the user's own SSH configuration. Never a path that a workspace names. */
  configFile?: string;
  logger?: Logger;
}

/** Owns the jump connections and what the user entered; the connections it gives belong to who asked for them. */
export class Ssh2Transport implements SshTransport {
  private readonly limiter = new Limiter(atOnce);
  private readonly reading = new Limiter(atOnce);
  private readonly jumps = new JumpPool();
  private readonly secrets: Secrets;
  private readonly review: HostKeyReview;
  private readonly store: TrustStore;
  private readonly source: ConfigSourceOptions;
  private readonly logger: Logger;
  private readonly lifetime = new AbortController();
  private readonly connections = new Set<Ssh2Connection>();

  constructor({ prompter, home, surroundings, configFile, logger }: Ssh2TransportOptions) {
    const around = surroundings ?? ownSurroundings();
    this.secrets = new Secrets(prompter);
    this.review = new HostKeyReview(prompter);
    this.store = new TrustStore(home ?? trainyardHome(around.env));
    this.source = { around, ...(configFile === undefined ? {} : { configFile }) };
    this.logger = logger ?? nullLogger;
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

  /** What the user's configuration and the profile say of a host. UserError (usage, connection), Cancelled. */
  async resolve(target: SshTarget, signal?: AbortSignal): Promise<SshConfig> {
    const slot = await this.reading.acquire(signal);
    try {
      return sshConfig(target, await readSettings(target, this.source, signal), this.source.around);
    } finally {
      slot.release();
    }
  }

  dispose(): void {
    this.lifetime.abort();
    this.secrets.forget();
    for (const connection of [...this.connections]) connection.dispose();
  }

  /** The host, and those it is reached through; the last is reached from here. UserError, Cancelled. */
  private async route(target: SshTarget, signal: AbortSignal): Promise<SshConfig[]> {
    const route: SshConfig[] = [];
    for (let next: SshTarget | undefined = target; next !== undefined;) {
      if (route.length > mostHops) {
        throw failure(
          `the way to ${target.host} has more than ${mostHops} jump hosts`,
          'Look for a loop in ProxyJump',
        );
      }
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
    let lease: Lease | undefined;
    try {
      lease = jumps.length === 0 ? undefined : await this.lease(jumps, signal);
      return await this.persistently(config, lease, arrival, signal);
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  private lease(jumps: readonly SshConfig[], signal: AbortSignal): Promise<Lease> {
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

  /** A connection that was dropped before the login began is made again; whatever was refused is not. */
  private async persistently(
    config: SshConfig,
    lease: Lease | undefined,
    arrival: Arrival,
    signal: AbortSignal,
  ): Promise<Ssh2Connection> {
    const place: Place = { where: config.host, hostName: config.hostName, port: config.port };
    for (let attempt = 1; ; attempt++) {
      const slot = await this.limiter.acquire(signal);
      try {
        return await this.attempt(config, place, lease, arrival, slot, signal);
      } catch (error) {
        if (signal.aborted) throw new Cancelled();
        if (!(error instanceof Dropped)) throw error;
        this.logger.log('debug', `${placeText(place)}: attempt ${attempt} was dropped: ${error.message}`);
        if (attempt === attempts) throw droppedFor(place, error);
      } finally {
        slot.release();
      }
      const pause = Math.min(longestPause, firstPause * 2 ** attempt) * (0.5 + Math.random());
      await sleep(pause, undefined, { signal }).catch(() => {
        throw new Cancelled();
      });
    }
  }

  private async attempt(
    config: SshConfig,
    place: Place,
    lease: Lease | undefined,
    arrival: Arrival,
    slot: Slot,
    signal: AbortSignal,
  ): Promise<Ssh2Connection> {
    const ssh2 = await loadSsh2();
    const checker = await HostKeyChecker.open(config, this.store, this.review);
    const identities = await loadIdentities(ssh2, config, this.secrets);
    const sock = await this.reach(place, lease, signal);
    const address =
      'remoteAddress' in sock && typeof sock.remoteAddress === 'string' ? sock.remoteAddress : place.hostName;
    const { secrets } = this;
    const parts = { ssh2, config, place, sock, address, checker, arrival, identities, secrets, slot, signal };
    const client = await login(parts);
    const connection: Ssh2Connection = new Ssh2Connection(client, sock, config.host, () => {
      this.connections.delete(connection);
      lease?.release();
    });
    this.connections.add(connection);
    return connection;
  }

  private async reach(place: Place, lease: Lease | undefined, signal: AbortSignal): Promise<Duplex> {
    throwIfCancelled(signal);
    return lease ? lease.connection.forwardTcp(place.hostName, place.port) : openSocket(place, signal);
  }
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

function droppedFor(place: Place, error: Dropped): UserError {
  return failure(
    `${placeText(place)} dropped ${attempts} connections before the login: ${error.message}`,
    'It may be overloaded or limit logins (MaxStartups in sshd_config); wait a moment and connect again',
    error,
  );
}
