// The verdict on the key that a host shows: from the user's, the system's and Trainyard's known
// hosts, else from the user. For ssh2 of every key; for the user's own ssh, which reads the same
// files, of keys that ssh does not know. A head's ssh has a verdict of its own.
import { NeedsOpenSsh, Refused } from '../base/failures.js';
import type { SshConfig } from '../config/config.js';
import { fingerprint, keyType, typeForPeople } from './keys.js';
import { judge, knownName, linesFor, defaultPort, type KnownHostsLine, type Verdict } from './knownHosts.js';
import type { Arrival, HostKeyReview } from './review.js';
import type { UnknownHostKey } from '../base/transport.js';
import { readKnownHosts, type TrustStore } from './trustStore.js';

/** Best first; ssh-rsa's SHA-1 signatures are not among them. */
const algorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;
/** A signature algorithm of host keys that Trainyard accepts. */
export type HostKeyAlgorithm = (typeof algorithms)[number];

const typeOf = (algorithm: HostKeyAlgorithm): string =>
  algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm;

/** A key as a host shows it. */
type ShownKey = Pick<UnknownHostKey, 'type' | 'fingerprint'>;

/** One host's key, for one connection. */
export class HostKeyChecker {
  private accepted: Buffer | undefined;

  private constructor(
    private readonly config: SshConfig,
    private readonly lines: readonly KnownHostsLine[],
    private readonly names: readonly string[],
    private readonly store: TrustStore,
    private readonly review: HostKeyReview,
  ) {}

  /** Reads the files of known hosts. UserError (connection) where one cannot be read. */
  static async open(config: SshConfig, store: TrustStore, review: HostKeyReview): Promise<HostKeyChecker> {
    const { hostKeyAlias, hostName, port } = config;
    const names =
      hostKeyAlias === undefined
        ? [knownName(hostName, port), ...(port === defaultPort ? [] : [knownName(hostName, defaultPort)])]
        : [hostKeyAlias.toLowerCase()];
    const files = [...new Set([...config.knownHosts, store.path])];
    return new HostKeyChecker(config, await readKnownHosts(files), names, store, review);
  }

  private get name(): string {
    return this.names[0] ?? '';
  }

  /**
   * What to ask the host for: first the types of the keys it is known by, so that it shows one of
   * those.
   */
  algorithms(): HostKeyAlgorithm[] {
    const known = this.names.flatMap((name) =>
      linesFor(this.lines, name)
        .filter(({ marker }) => marker === undefined)
        .map(({ key }) => keyType(key)),
    );
    const isKnown = (algorithm: HostKeyAlgorithm): boolean => known.includes(typeOf(algorithm));
    return [...algorithms.filter(isKnown), ...algorithms.filter((algorithm) => !isKnown(algorithm))];
  }

  /** Resolves when the key may be used. UserError (connection) that says why it is refused. */
  async check(
    key: Buffer,
    address: string,
    arrival: Arrival,
    patiently: <T>(wait: () => Promise<T>) => Promise<T>,
  ): Promise<void> {
    if (this.accepted?.equals(key)) return;
    const shown = { type: keyType(key) ?? 'unknown', fingerprint: fingerprint(key) };
    if (this.knowsOrRefuses(shown)) arrival.done();
    else await this.ask(key, shown, address, arrival, patiently);
    this.accepted = key;
  }

  /**
   * Asks the user about a key about which ssh asks, and says whether the user trusts it. Where it
   * is trusted, the store is there afterwards, for ssh to append the key to. UserError (connection)
   * where the key is refused without a question.
   */
  async askForSsh(key: UnknownHostKey): Promise<boolean> {
    this.knowsOrRefuses(key);
    const trusted = await this.review.ask(key);
    if (trusted) await this.store.prepare();
    return trusted;
  }

  /**
   * True: the key is known. False: nothing is known of it, and the user may be asked. UserError
   * (connection) where it is refused: changed, revoked, or unknown where the user wants no
   * question.
   */
  private knowsOrRefuses(shown: ShownKey): boolean {
    const verdict = this.judge(shown.fingerprint);
    const { host, strictHostKeys } = this.config;
    if (verdict.kind === 'changed') throw this.changed(shown, verdict.known);
    if (verdict.kind === 'revoked') {
      throw new Refused(
        `the host key of ${host}, ${shown.fingerprint}, is marked as revoked (${verdict.by.file}:${verdict.by.line})`,
        'Nothing was sent to that host; ask who runs it for its new key',
      );
    }
    if (verdict.kind === 'unknown' && strictHostKeys) throw unknownRefused(host, shown.fingerprint);
    return verdict.kind === 'known';
  }

  /**
   * As ssh does, a key that is known without the port counts for another port, but never against
   * it.
   */
  private judge(shown: string): Verdict {
    const verdict = judge(this.lines, this.name, shown);
    if (verdict.kind !== 'unknown') return verdict;
    const [, ...others] = this.names;
    const further = others.map((name) => judge(this.lines, name, shown));
    return further.find(({ kind }) => kind === 'revoked' || kind === 'known') ?? verdict;
  }

  private async ask(
    key: Buffer,
    shown: ShownKey,
    address: string,
    arrival: Arrival,
    patiently: <T>(wait: () => Promise<T>) => Promise<T>,
  ): Promise<void> {
    const { host, port } = this.config;
    const about = linesFor(this.lines, this.name);
    if (about.some(({ marker }) => marker === 'cert-authority')) {
      throw new NeedsOpenSsh(host, 'your known_hosts names an authority for its host key');
    }
    const asked = this.review.ask({ host, address, port, ...shown });
    arrival.done();
    if (!(await patiently(() => asked))) {
      throw new Refused(`the host key of ${host}, ${shown.fingerprint}, was not accepted`, {
        kind: 'acceptHostKey',
        host,
      });
    }
    await this.store.add(this.name, key);
  }

  private changed(shown: ShownKey, known: readonly KnownHostsLine[]): Error {
    const text = ({ type, fingerprint: sum }: ShownKey): string => `${typeForPeople(type)} ${sum}`;
    const before = known.map(({ key, file, line }) => {
      const was = { type: keyType(key) ?? 'unknown', fingerprint: fingerprint(key) };
      return `${text(was)} (${file}:${line})`;
    });
    return new Refused(
      `the host key of ${this.config.host} has changed: it shows ${text(shown)}, known is ${before.join(', ')}`,
      'Someone may stand between; nothing was sent. If its key was really changed, remove the named line and connect again',
    );
  }
}

/**
 * What `StrictHostKeyChecking yes` means for a key that stands in no file. `shown` is its
 * fingerprint, where it is known.
 */
export function unknownRefused(host: string, shown: string | undefined): Error {
  return new Refused(
    `the host key of ${host}${shown === undefined ? '' : `, ${shown},`} is not known, and StrictHostKeyChecking in your SSH configuration refuses unknown keys`,
    'Put its key into known_hosts, as the administrator of the host gives it',
  );
}
