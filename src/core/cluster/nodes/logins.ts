// Logging in on many nodes at once.
import type { SshNode } from './sshNode.js';

/** Logs in on each node. Resolves with what went wrong there, or undefined, in their order. */
export function loginErrors(
  nodes: readonly Pick<SshNode, 'connection'>[],
  signal: AbortSignal | undefined,
): Promise<(Error | undefined)[]> {
  return Promise.all(
    nodes.map(async (node) => {
      try {
        await node.connection(signal);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    }),
  );
}
