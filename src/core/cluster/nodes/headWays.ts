// The connections to a head whose own ssh reaches the other nodes. Each channel to a node is one of
// such a connection, and a server gives a connection 10 by default (MaxSessions of sshd_config).
import type { Disposable } from '../../base/lifecycle.js';
import type { SshNode } from './sshNode.js';

/** Nodes that share the head's own connection, which the head's agent needs too. */
const besideHead = 4;
/** Nodes of each further connection: an agent each, and room for what else is done at a time. */
const ofFurther = 6;

/** Owns the further connections to the head. */
export class HeadWays implements Disposable {
  private readonly further: SshNode[] = [];

  /** `again`: another connection to the head, made when it is first used. */
  constructor(
    private readonly head: SshNode,
    private readonly again: () => SshNode,
  ) {}

  /** Of the node that is number `index` behind the head, from 0. */
  of(index: number): SshNode {
    if (index < besideHead) return this.head;
    const at = Math.floor((index - besideHead) / ofFurther);
    while (this.further.length <= at) this.further.push(this.again());
    return this.further[at] ?? this.head;
  }

  dispose(): void {
    for (const node of this.further) node.dispose();
  }
}
