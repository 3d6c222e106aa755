// One machine with an agent on it: a connection that is made when needed, and made again after it
// was lost.
import { Cancelled } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import { AgentClient, type AgentStream, type AmendEntries } from './agentClient.js';
import type { Hello } from '../contracts/agentApi.js';

/** How a node's agent is reached. `open` starts an agent; what it opened belongs to the node. */
export interface NodeOptions {
  open: () => Promise<AgentStream>;
  logger?: Logger;
  /** As of AgentClientOptions. */
  entries?: AmendEntries | undefined;
}

/** The agent of one machine. Owns the connection. */
export class AgentNode implements Disposable {
  private current: Promise<AgentClient> | undefined;
  private greeting: Hello | undefined;
  private disposed = false;

  constructor(private readonly options: NodeOptions) {}

  /**
   * The one connection of this node. UserError (connection) when it cannot be made; the next call
   * tries anew.
   */
  async client(): Promise<AgentClient> {
    const current = this.current;
    if (current) {
      const client = await current;
      if (!client.isClosed) return client;
      if (this.current === current) this.current = undefined;
      return this.client();
    }
    if (this.disposed) throw new Cancelled('the node was disposed');
    const opening = this.connect();
    this.current = opening;
    opening.catch(() => {
      if (this.current === opening) this.current = undefined;
    });
    return opening;
  }

  /** What the agent said of itself at the first connection. UserError (connection), Cancelled. */
  async hello(): Promise<Hello> {
    const client = await this.client();
    this.greeting ??= await client.request('hello');
    return this.greeting;
  }

  dispose(): void {
    this.disposed = true;
    const { current } = this;
    this.current = undefined;
    current?.then(
      (client) => {
        client.dispose();
      },
      () => undefined,
    );
  }

  private async connect(): Promise<AgentClient> {
    const { open, logger = nullLogger, entries } = this.options;
    const client = await AgentClient.connect(await open(), { logger, entries });
    if (!this.disposed) return client;
    client.dispose();
    throw new Cancelled('the node was disposed');
  }
}
