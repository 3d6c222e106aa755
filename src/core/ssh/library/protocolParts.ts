// Parts of ssh2 that have no public way in: each is looked at before it is used, and left alone
// where it is not as expected.
import type { Client } from 'ssh2';

export type Part = Record<string, unknown>;

export const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null;

/** What puts packets together and keeps the state of the key exchange. */
export function protocolOf(client: Client): Part | undefined {
  const protocol: unknown = Reflect.get(client, '_protocol');
  return isPart(protocol) ? protocol : undefined;
}
