// What the server says when it refuses one way to log in. ssh2 forgets what it says of a key of an
// agent: that the key counts, and that more is wanted (partial success).
import type { Client } from 'ssh2';
import { innerParts } from './innerParts.js';

/** `methods`: what the server still allows. `partial`: the way counted, and more is wanted. */
export type OnRefusal = (methods: readonly string[], partial: boolean) => void;

/**
 * Calls back at each refusal, before ssh2 itself heeds it. False where ssh2 is not as expected.
 */
export function watchRefusals(client: Client, onRefusal: OnRefusal): boolean {
  const handlers = innerParts.refusals.find(client);
  if (handlers === undefined) return false;
  const original = handlers.USERAUTH_FAILURE;
  handlers.USERAUTH_FAILURE = (protocol, methods, partial) => {
    onRefusal(methods, partial);
    original(protocol, methods, partial);
  };
  return true;
}
