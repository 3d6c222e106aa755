// One attempt at a connection: the host's key is checked, then the user logs in.
import type { CipherAlgorithm, Client, KexAlgorithm, MacAlgorithm } from 'ssh2';
import type { Duplex } from 'node:stream';
import { Cancelled, throwIfCancelled } from '../../base/errors.js';
import { Authenticator } from '../auth/authenticator.js';
import type { Identities } from '../auth/identities.js';
import type { Secrets } from '../auth/secrets.js';
import type { SshConfig } from '../config/config.js';
import { Deadline } from '../base/deadline.js';
import { handshakeFailure, loginEnded, NeedsOpenSsh, timedOut, type Place } from '../base/failures.js';
import type { HostKeyChecker } from '../hostKeys/checker.js';
import type { Arrival } from '../hostKeys/review.js';
import type { GuardedParts } from '../library/guardedParts.js';
import type { Ssh2 } from '../library/loadSsh2.js';
import type { Slot } from '../base/limiter.js';

/** Milliseconds that the server may take for one step. */
const patience = 20_000;
/** Milliseconds after which ssh2 asks for an answer; `Watchdog` decides what silence means. */
export const keepaliveInterval = 4000;

// Without CBC, and without chacha20-poly1305: ssh2 would use it also with servers that lack strict
// key exchange, where it can be tampered with (Terrapin).
const cipher: CipherAlgorithm[] = [
  'aes128-gcm@openssh.com',
  'aes256-gcm@openssh.com',
  'aes128-ctr',
  'aes192-ctr',
  'aes256-ctr',
];
const hmac: MacAlgorithm[] = [
  'hmac-sha2-256-etm@openssh.com',
  'hmac-sha2-512-etm@openssh.com',
  'hmac-sha2-256',
  'hmac-sha2-512',
];
const kex: KexAlgorithm[] = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
  'diffie-hellman-group-exchange-sha256',
  'diffie-hellman-group14-sha256',
  'diffie-hellman-group16-sha512',
  'diffie-hellman-group18-sha512',
];

const otherLibrary = 'the ssh2 library here is not the version that Trainyard was made with';

/** What one attempt at a connection has to work with. A failed attempt destroys `sock`. */
export interface Attempt {
  ssh2: Ssh2;
  config: SshConfig;
  place: Place;
  /** Connected: a socket, or a channel through a jump host. */
  sock: Duplex;
  /** Where that leads, for the question about the host key. */
  address: string;
  checker: HostKeyChecker;
  arrival: Arrival;
  identities: Identities;
  secrets: Secrets;
  /** See `AuthenticatorOptions`. */
  keyForOwnSsh: (() => Promise<string | undefined>) | undefined;
  parts: GuardedParts;
  slot: Slot;
  signal: AbortSignal | undefined;
}

/**
 * Resolves with a client that is logged in. Rejects with Dropped (see failures.ts), UserError or
 * Cancelled; then nothing is left of it.
 */
export async function login(attempt: Attempt): Promise<Client> {
  const { ssh2, config, place, sock, checker, arrival, slot, signal } = attempt;
  throwIfCancelled(signal);
  const client = new ssh2.Client();
  let isDecided = false; // the login has begun: what goes wrong from here on is not tried again
  return new Promise<Client>((resolve, reject) => {
    let settled = false;
    let failed = false;
    let greeting = ''; // what came before any "SSH-"
    const listen = (chunk: Buffer): void => {
      greeting = `${greeting}${chunk.toString('latin1')}`.slice(0, 500);
      if (/^SSH-/m.test(greeting)) sock.off('data', listen);
    };
    const settle = (finish: () => void): void => {
      if (settled) return;
      settled = true;
      deadline.end();
      sock.off('data', listen);
      signal?.removeEventListener('abort', cancel);
      finish();
    };
    const fail = (error: Error): void => {
      settle(() => {
        failed = true;
        client.on('error', () => undefined); // an end that is our own doing
        client.end();
        client.destroy();
        sock.destroy();
        reject(error);
      });
    };
    const cancel = (): void => {
      fail(new Cancelled());
    };
    const deadline = new Deadline(patience, () => {
      fail(timedOut(place, isDecided ? 'during the login' : 'during the key exchange'));
    });
    const patiently = <T>(wait: () => Promise<T>): Promise<T> => deadline.patiently(() => slot.without(wait));
    const { identities, secrets, keyForOwnSsh } = attempt;
    const given = { ssh2, config, identities, secrets, keyForOwnSsh };
    const auth = new Authenticator({ ...given, onFail: fail, patiently });
    signal?.addEventListener('abort', cancel, { once: true });
    client
      .once('ready', () => {
        settle(() => {
          resolve(client);
        });
      })
      .on('error', (error) => {
        fail(
          isDecided
            ? loginEnded(place.where, config.user, error, auth.said)
            : handshakeFailure(place, greeting, error),
        );
      })
      .on('close', () => {
        fail(
          isDecided
            ? loginEnded(place.where, config.user, undefined, auth.said)
            : handshakeFailure(place, greeting),
        );
      });
    client.connect({
      sock,
      username: config.user,
      authHandler: (left, partial, next) => {
        isDecided = true;
        auth.handler(left, partial, next);
      },
      hostVerifier: (key: Buffer, verify: (valid: boolean) => void) => {
        checker.check(key, attempt.address, arrival, patiently).then(
          () => {
            if (!failed) verify(true);
          },
          (error: unknown) => {
            fail(error as Error);
            verify(false);
          },
        );
      },
      algorithms: { cipher, hmac, kex, serverHostKey: checker.algorithms(), compress: ['none'] },
      readyTimeout: 0, // `deadline` instead, which does not count the time a person takes
      keepaliveInterval,
      keepaliveCountMax: Number.MAX_SAFE_INTEGER,
      strictVendor: false,
    });
    if (!auth.watch(client, attempt.parts)) fail(new NeedsOpenSsh(config.host, otherLibrary));
    sock.on('data', listen);
  });
}
