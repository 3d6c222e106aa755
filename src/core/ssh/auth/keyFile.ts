// What a private key file tells without its passphrase: whether it needs one, and often its public
// half.
import type { ParsedKey } from 'ssh2';
import type { Ssh2 } from '../library/loadSsh2.js';
import { keyType } from '../hostKeys/keys.js';

/** What a private key file is: usable at once, behind a passphrase, or not usable, and why. */
export type KeyFile =
  | { kind: 'open'; key: ParsedKey }
  | { kind: 'encrypted'; publicKey: ParsedKey | undefined }
  | { kind: 'unusable'; why: string };

const magic = Buffer.from('openssh-key-v1\0', 'latin1');

/** `publicText` is the `.pub` file beside it, if there is one. */
export function readKeyFile({ utils }: Ssh2, text: string, publicText: string | undefined): KeyFile {
  const { blob, type } = publicKeyOf(text) ?? {};
  if (type?.startsWith('sk-')) return { kind: 'unusable', why: 'it is a security key (FIDO)' };
  const parsed = first(utils.parseKey(text));
  if (!(parsed instanceof Error)) {
    return parsed.isPrivateKey()
      ? { kind: 'open', key: parsed }
      : { kind: 'unusable', why: 'it holds a public key, not the private one' };
  }
  if (!/encrypted/i.test(parsed.message)) return { kind: 'unusable', why: parsed.message };
  const line = blob && type ? `${type} ${blob.toString('base64')}` : publicText;
  const publicKey = line === undefined ? undefined : first(utils.parseKey(line));
  return { kind: 'encrypted', publicKey: publicKey instanceof Error ? undefined : publicKey };
}

/** The public half and its type, where a private key file shows them. */
export function publicKeyOf(text: string): { blob: Buffer; type: string | undefined } | undefined {
  const blob = publicBlob(text);
  return blob === undefined ? undefined : { blob, type: keyType(blob) };
}

/** The key of a file behind a passphrase, or an Error where the passphrase is wrong. */
export function unlock({ utils }: Ssh2, text: string, passphrase: string): ParsedKey | Error {
  return first(utils.parseKey(text, passphrase));
}

/** ssh2 may give a list: OpenSSH's format has room for several keys, but holds one. */
function first(parsed: ParsedKey | Error | readonly ParsedKey[]): ParsedKey | Error {
  if (!Array.isArray(parsed)) return parsed as ParsedKey | Error;
  return (parsed as readonly ParsedKey[])[0] ?? new Error('it holds no key');
}

/** The public half, which OpenSSH's own format keeps in the clear. See PROTOCOL.key of OpenSSH. */
function publicBlob(text: string): Buffer | undefined {
  const [, base64] =
    /-----BEGIN OPENSSH PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+?)\s+-----END OPENSSH PRIVATE KEY-----/.exec(
      text,
    ) ?? [];
  if (base64 === undefined) return undefined;
  const data = Buffer.from(base64, 'base64');
  if (!data.subarray(0, magic.length).equals(magic)) return undefined;
  let at = magic.length;
  const field = (): Buffer | undefined => {
    if (at + 4 > data.length) return undefined;
    const end = at + 4 + data.readUInt32BE(at);
    if (end > data.length) return undefined;
    const value = data.subarray(at + 4, end);
    at = end;
    return value;
  };
  for (let skipped = 0; skipped < 3; skipped++) if (field() === undefined) return undefined; // cipher, KDF, its options
  at += 4; // how many keys
  return field();
}
