// ssh2, loaded at the first connection: starting must not wait for it.
import type * as ssh2 from 'ssh2';

/** What the ssh2 module exports. */
export type Ssh2 = typeof ssh2;

/** The ssh2 module, read from the disk by the first call. */
export async function loadSsh2(): Promise<Ssh2> {
  const { default: loaded } = await import('ssh2');
  return loaded;
}
