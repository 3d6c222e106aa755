import { afterEach, describe, expect, it } from 'vitest';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { GpuTickets } from '../../../../src/core/cluster/gpus/gpuTickets.js';
import { FakeAgent, type Request } from '../../support/fakeAgent.js';

/** A node whose queue gives this number to a start that names none. */
class QueueNode {
  readonly requests: Request[] = [];
  agent: FakeAgent | undefined;
  readonly node = new AgentNode({
    open: () => {
      this.agent = new FakeAgent((request) => {
        this.requests.push(request);
        const number = request.params['number'] ?? this.next;
        return { result: request.method === 'gpus.queue' ? { number } : {} };
      });
      return Promise.resolve(this.agent.stream());
    },
  });

  constructor(private readonly next: number) {}

  numbers(): unknown[] {
    return this.requests
      .filter(({ method }) => method === 'gpus.queue')
      .map(({ params }) => params['number']);
  }
}

const nodes = new Map<string, QueueNode>();
afterEach(() => {
  for (const { node } of nodes.values()) node.dispose();
  nodes.clear();
});

function ticketsOn(numbers: Readonly<Record<string, number>>): GpuTickets {
  for (const [host, next] of Object.entries(numbers)) nodes.set(host, new QueueNode(next));
  const demands = [...nodes.keys()].map((host) => ({ host, gpus: [0, 1], count: 2 }));
  return new GpuTickets(demands, (host) => {
    const found = nodes.get(host);
    if (!found) throw new Error(`no node ${host}`);
    return found.node;
  });
}

describe('tickets on several nodes', () => {
  it('have the highest number that a node gave, everywhere', async () => {
    const tickets = ticketsOn({ a: 3, b: 7, c: 1 });
    const me = await tickets.enter();
    expect(me).toEqual({ ticket: expect.stringMatching(/^[0-9a-f]{32}$/) as string, number: 7 });
    expect([...nodes.values()].map((node) => node.numbers())).toEqual([
      [undefined, 7],
      [undefined],
      [undefined, 7],
    ]);
    expect(await tickets.enter()).toEqual(me);
    const requests = [...nodes.values()].flatMap((node) => node.requests);
    expect(requests).toHaveLength(5); // nothing is asked again
    expect(new Set(requests.map(({ params }) => params['ticket']))).toEqual(new Set([me.ticket]));
    expect(requests[0]?.params).toMatchObject({
      gpus: [0, 1],
      count: 2,
      by: expect.stringContaining('@') as string,
    });
  });

  it('come back to their place where a connection was lost', async () => {
    const tickets = ticketsOn({ a: 3, b: 7 });
    const me = await tickets.enter();
    const { agent, node } = nodes.get('a') ?? {};
    const client = await node?.client();
    agent?.end('exit 0');
    await expect.poll(() => client?.isClosed).toBe(true);
    expect(await tickets.enter()).toEqual(me);
    expect(nodes.get('a')?.numbers()).toEqual([undefined, 7, 7]);
    expect(nodes.get('b')?.numbers()).toEqual([undefined]);
  });

  it('are given back on every node', async () => {
    const tickets = ticketsOn({ a: 3, b: 7 });
    const { ticket } = await tickets.enter();
    await tickets.leave();
    for (const { requests } of nodes.values()) {
      expect(requests.at(-1)).toMatchObject({ method: 'gpus.leave', params: { ticket } });
    }
  });
});
