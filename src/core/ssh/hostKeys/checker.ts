// The verdict on the key a host shows: from the user's known_hosts and Trainyard's own, else from the user.
import { failure, NeedsOpenSsh } from '../failures.js';
import type { SshConfig } from '../config.js';
import { fingerprint, keyType, typeForPeople } from './keys.js';
import { judge, knownName, linesFor, defaultPort, type KnownHostsLine, type Verdict } from './knownHosts.js';
import type { Arrival, HostKeyReview } from './review.js';
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
export type HostKeyAlgorithm = (typeof algorithms)[number];

const typeOf = (algorithm: HostKeyAlgorithm): string =>
  algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm;

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

  /** What to ask the host for: first the types of the keys it is known by, so that it shows one of those. */
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
    const verdict = this.judge(key);
    switch (verdict.kind) {
      case 'known':
        arrival.done();
        break;
      case 'unknown':
        await this.ask(key, address, arrival, patiently);
        break;
      case 'changed':
        throw this.changed(key, verdict.known);
      case 'revoked':
        throw failure(
          `the host key of ${this.config.host}, ${fingerprint(key)}, is marked as revoked (${verdict.by.file}:${verdict.by.line})`,
          'Nothing was sent to that host; ask who runs it for its new key',
        );
    }
    this.accepted = key;
  }

  /** As ssh does, a key that is known without the port counts for another port, but never against it. */
  private judge(key: Buffer): Verdict {
    const verdict = judge(this.lines, this.name, key);
    if (verdict.kind !== 'unknown') return verdict;
    const [, ...others] = this.names;
    const further = others.map((name) => judge(this.lines, name, key));
    return further.find(({ kind }) => kind === 'revoked' || kind === 'known') ?? verdict;
  }

  private async ask(
    key: Buffer,
    address: string,
    arrival: Arrival,
    patiently: <T>(wait: () => Promise<T>) => Promise<T>,
  ): Promise<void> {
    const { host, port } = this.config;
    const about = linesFor(this.lines, this.name);
    if (about.some(({ marker }) => marker === 'cert-authority')) {
      throw new NeedsOpenSsh(host, 'your known_hosts names an authority for its host key');
    }
    const asked = this.review.ask({
      host,
      address,
      port,
      type: keyType(key) ?? 'unknown',
      fingerprint: fingerprint(key),
    });
    arrival.done();
    if (!(await patiently(() => asked))) {
      throw failure(
        `the host key of ${host}, ${fingerprint(key)}, was not accepted`,
        'Nothing was sent to that host; compare the fingerprint with its own (ssh-keygen -lf on the host) and connect again',
      );
    }
    await this.store.add(this.name, key);
  }

  private changed(key: Buffer, known: readonly KnownHostsLine[]): Error {
    const shown = (blob: Buffer): string =>
      `${typeForPeople(keyType(blob) ?? 'unknown')} ${fingerprint(blob)}`;
    const before = known.map((line) => `${shown(line.key)} (${line.file}:${line.line})`).join(', ');
    return failure(
      `the host key of ${this.config.host} has changed: it shows ${shown(key)}, known is ${before}`,
      'Someone may stand between; nothing was sent. If its key was really changed, remove the named line and connect again',
    );
  }
}
