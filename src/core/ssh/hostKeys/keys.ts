// Public keys as they stand on the wire: a length, the name of the type, and the rest.
import { createHash } from 'node:crypto';

/** What the blob says it is; undefined when it is none. */
export function keyType(blob: Buffer): string | undefined {
  if (blob.length < 5) return undefined;
  const length = blob.readUInt32BE(0);
  if (length === 0 || length > 64 || 4 + length >= blob.length) return undefined;
  const type = blob.toString('latin1', 4, 4 + length);
  return /^[\x21-\x7e]+$/.test(type) ? type : undefined;
}

/** `SHA256:…`, as ssh-keygen prints it. */
export function fingerprint(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

/** `ED25519`, as ssh calls the type when it speaks to people. */
export function typeForPeople(type: string): string {
  return type
    .replace(/^ssh-/, '')
    .replace(/^ecdsa-sha2-.*/, 'ecdsa')
    .toUpperCase();
}
