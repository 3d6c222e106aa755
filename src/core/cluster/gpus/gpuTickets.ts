// A start's tickets in the queues for GPUs, one on each of its nodes: see docs/contracts/gpus.md.
import { randomBytes } from 'node:crypto';
import type { AgentNode } from '../../agent/agentNode.js';
import { userHere } from '../../base/userHere.js';
import type { GpuDemand, QueuePlace } from '../../plan/gpuQueue.js';

type Client = Awaited<ReturnType<AgentNode['client']>>;

/** Milliseconds that an agent is given to take a ticket back; its connection is closed then. */
const leavePatience = 5_000;

/** Tickets that the nodes' agents hold. Whoever made this calls `leave`. */
export class GpuTickets {
  private readonly ticket = randomBytes(16).toString('hex');
  private readonly by = userHere();
  /** For each host the connection that holds the ticket there, and the number that it has there. */
  private readonly queued = new Map<string, { client: Client; number: number }>();
  private number = 0;

  constructor(
    private readonly demands: readonly GpuDemand[],
    private readonly nodeOf: (host: string) => AgentNode,
  ) {}

  /**
   * Sees to it that every node has the ticket, and all the same number, the highest that one gave.
   * A connection that was lost has left the queue there; it comes back to its place. UserError
   * (connection), AgentError, Cancelled.
   */
  async enter(): Promise<QueuePlace> {
    const clients = await Promise.all(
      this.demands.map(async (demand) => ({ demand, client: await this.nodeOf(demand.host).client() })),
    );
    const missing = clients.filter(({ demand, client }) => this.queued.get(demand.host)?.client !== client);
    await Promise.all(missing.map(({ demand, client }) => this.queueAt(demand, client)));
    const highest = Math.max(...[...this.queued.values()].map(({ number }) => number));
    this.number = highest;
    const lower = clients.filter(({ demand }) => this.queued.get(demand.host)?.number !== highest);
    await Promise.all(lower.map(({ demand, client }) => this.queueAt(demand, client)));
    return { ticket: this.ticket, number: highest };
  }

  /** Out of every queue. A connection that is gone has left already. */
  async leave(): Promise<void> {
    const held = [...this.queued.values()];
    this.queued.clear();
    await Promise.allSettled(
      held.map(({ client }) =>
        client.request('gpus.leave', { ticket: this.ticket }, { timeout: leavePatience }),
      ),
    );
  }

  private async queueAt({ host, gpus, count }: GpuDemand, client: Client): Promise<void> {
    const number = this.number === 0 ? {} : { number: this.number };
    const params = { ticket: this.ticket, gpus, count, by: this.by, ...number };
    const given = await client.request('gpus.queue', params);
    this.queued.set(host, { client, number: given.number });
  }
}
