// One channel to each node for all that a check asks there: each costs the node a start of Python.
import type { Disposable } from '../../base/lifecycle.js';
import type { Bootstrap } from '../../setup/bootstrap.js';
import type { SshNode } from './sshNode.js';

/** A node, and the channel on which it is asked. */
export interface CheckedNode {
  node: SshNode;
  channel: Bootstrap;
}

/** Owns the channels. What listens on a node for a check ends with its channel. */
export class NodeChannels implements Disposable {
  private readonly opened = new Map<SshNode, Promise<Bootstrap>>();

  constructor(private readonly signal?: AbortSignal) {}

  /** The channel of this node, opened at the first call. UserError (connection, preflight), Cancelled. */
  of(node: SshNode): Promise<Bootstrap> {
    const known = this.opened.get(node) ?? node.bootstrap(this.signal);
    this.opened.set(node, known);
    return known;
  }

  dispose(): void {
    for (const opening of this.opened.values()) {
      opening.then(
        (channel) => {
          channel.dispose();
        },
        () => undefined, // who asked for it was told
      );
    }
    this.opened.clear();
  }
}

/** Opens a channel to each of these nodes for one task. UserError (connection, preflight), Cancelled. */
export async function withChannels<T>(
  nodes: readonly SshNode[],
  task: (nodes: readonly CheckedNode[]) => Promise<T>,
): Promise<T> {
  const channels = new NodeChannels();
  try {
    return await task(
      await Promise.all(nodes.map(async (node) => ({ node, channel: await channels.of(node) }))),
    );
  } finally {
    channels.dispose();
  }
}
