// The known_hosts format: which lines speak of a host, and what they say of a key. See sshd(8),
// SSH_KNOWN_HOSTS FILE FORMAT.
import { createHmac } from 'node:crypto';
import { fingerprint, keyType } from './keys.js';

/** One line of a known_hosts file. `key` is the key as SSH sends it. */
export interface KnownHostsLine {
  file: string;
  /** Counted from 1. */
  line: number;
  marker: 'revoked' | 'cert-authority' | undefined;
  /** The host patterns as they stand there, or `|1|salt|hash`. */
  names: string;
  key: Buffer;
}

/** What files of known hosts say of a host's key, and which lines say it. */
export type Verdict =
  | { kind: 'known' }
  | { kind: 'unknown' }
  | { kind: 'changed'; known: KnownHostsLine[] }
  | { kind: 'revoked'; by: KnownHostsLine };

/** The port of SSH. known_hosts names a host on another port together with that port. */
export const defaultPort = 22;
const markers = new Map([
  ['@revoked', 'revoked'],
  ['@cert-authority', 'cert-authority'],
] as const);
const longestPattern = 1023; // as in OpenSSH: a longer one makes its whole list match nothing

/** How known_hosts calls a host on a port. */
export function knownName(host: string, port: number): string {
  const name = host.toLowerCase();
  return port === defaultPort ? name : `[${name}]:${port}`;
}

/**
 * Lines that cannot be read are left out, as ssh does. `text` is read as latin1, because ssh
 * compares bytes.
 */
export function parseKnownHosts(text: string, file: string): KnownHostsLine[] {
  return text.split('\n').flatMap((content, index) => {
    const parsed = parseLine(content);
    return parsed ? [{ file, line: index + 1, ...parsed }] : [];
  });
}

function parseLine(content: string): Omit<KnownHostsLine, 'file' | 'line'> | undefined {
  const words = content
    .replace(/\r$/, '')
    .split(/[ \t]+/)
    .filter((word) => word !== '');
  const first = words[0];
  if (first === undefined || first.startsWith('#')) return undefined;
  let marker: KnownHostsLine['marker'];
  if (first.startsWith('@')) {
    marker = markers.get(first as '@revoked');
    if (marker === undefined) return undefined;
    words.shift();
  }
  const [names, type, base64] = words;
  if (names === undefined || type === undefined || base64 === undefined) return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return undefined;
  const key = Buffer.from(base64, 'base64');
  return keyType(key) === type ? { marker, names, key } : undefined;
}

/** Whether the patterns of a line, plain or hashed, stand for this name (see `knownName`). */
function matchesName(names: string, name: string): boolean {
  return names.startsWith('|') ? matchesHash(names, name) : matchesPatterns(names, name);
}

function matchesHash(names: string, name: string): boolean {
  const [, version, salt, hash, ...more] = names.split('|');
  if (version !== '1' || salt === undefined || hash === undefined || more.length > 0) return false;
  const key = Buffer.from(salt, 'base64');
  if (key.length !== 20) return false;
  return createHmac('sha1', key).update(name, 'latin1').digest('base64') === hash;
}

/** A negated pattern that matches outweighs all others. */
function matchesPatterns(names: string, name: string): boolean {
  let found = false;
  for (const part of names.split(',')) {
    const negated = part.startsWith('!');
    const pattern = (negated ? part.slice(1) : part).toLowerCase();
    if (pattern.length > longestPattern) return false;
    if (!matchesPattern(pattern, name)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

/**
 * `*` and `?` only. Linear in the name for each star, so that no line of a file can make it slow.
 */
function matchesPattern(pattern: string, name: string): boolean {
  let at = 0;
  let inName = 0;
  let star = -1;
  let retry = 0;
  while (inName < name.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at++;
      retry = inName;
    } else if (wanted !== undefined && (wanted === '?' || wanted === name[inName])) {
      at++;
      inName++;
    } else if (star >= 0) {
      at = star + 1;
      inName = ++retry;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** The lines that speak of this host. */
export function linesFor(lines: readonly KnownHostsLine[], name: string): KnownHostsLine[] {
  return lines.filter(({ names }) => matchesName(names, name));
}

/**
 * What is known of a key that a host showed. A host with keys of another type only counts as
 * changed: else an impostor would get past the check by showing a type that the files do not have.
 * `shown` is the key's fingerprint.
 */
export function judge(lines: readonly KnownHostsLine[], name: string, shown: string): Verdict {
  const about = linesFor(lines, name);
  const same = about.filter(({ key }) => fingerprint(key) === shown);
  const revoked = same.find(({ marker }) => marker === 'revoked');
  if (revoked) return { kind: 'revoked', by: revoked };
  if (same.some(({ marker }) => marker === undefined)) return { kind: 'known' };
  const others = about.filter(({ marker }) => marker === undefined);
  return others.length > 0 ? { kind: 'changed', known: others } : { kind: 'unknown' };
}
