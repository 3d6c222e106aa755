import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { Cancelled, UserError } from '../../../../src/core/base/errors.js';
import type { AgentNotification } from '../../../../src/core/contracts/agentApi.js';
import { AgentClient, AgentError, maxMessageBytes } from '../../../../src/core/agent/agentClient.js';
import { FakeAgent } from '../../support/fakeAgent.js';

const hello = {
  version: '0.1.0',
  host: 'testhost',
  user: 'me',
  home: '/home/me',
  pid: 1,
  bootId: 'b',
  cores: 2,
  memoryTotal: 1,
  glibc: '2.28',
  kernel: '6',
};
const rejection = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

describe('the handshake', () => {
  it('sends 32 hex digits, different ones each time', async () => {
    const agents = [new FakeAgent(), new FakeAgent()];
    for (const agent of agents) (await AgentClient.connect(agent.stream())).dispose();
    expect(agents[0]?.nonce).toMatch(/^[0-9a-f]{32}$/);
    expect(agents[0]?.nonce).not.toBe(agents[1]?.nonce);
  });

  it('names how long it may be silent, and says something four times as often until it is closed', async () => {
    const usual = new FakeAgent();
    (await AgentClient.connect(usual.stream())).dispose();
    expect(usual.keepAlive).toBe(120);
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream(), { keepAlive: 0.04 });
    await expect.poll(() => agent.signsOfLife).toBeGreaterThan(3);
    client.dispose();
    const before = agent.signsOfLife;
    await new Promise((wake) => setTimeout(wake, 100));
    expect(agent.signsOfLife).toBeLessThanOrEqual(before + 1);
  });

  it('skips what a login shell prints, also without a newline before the nonce line', async () => {
    const agent = new FakeAgent(() => ({ result: hello }), false);
    const connecting = AgentClient.connect(agent.stream());
    agent.write('Welcome!\n{"jsonrpc":"2.0","id":1,"result":{}}\nno newline:');
    await expect.poll(() => agent.nonce).toBeDefined();
    agent.write(`trainyard-agent ${agent.nonce ?? ''}\n`);
    const client = await connecting;
    expect(await client.request('hello')).toEqual(hello);
    client.dispose();
  });

  it('fails with the noise when the line does not come in time, and lets go of the stream', async () => {
    const agent = new FakeAgent(undefined, false);
    const connecting = AgentClient.connect(agent.stream(), { connectTimeout: 50 });
    agent.write('bash: agent: command not found\n');
    const error = await rejection(connecting);
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ code: 'connection' });
    expect(String(error)).toContain('command not found');
    expect(agent.disposed).toBe(true);
  });

  it('fails with exit status and last lines of stderr when the agent ends', async () => {
    const agent = new FakeAgent(undefined, false);
    const connecting = AgentClient.connect(agent.stream());
    agent.end('exit 127', ['ld.so: version GLIBC_2.99 not found']);
    expect(String(await rejection(connecting))).toMatch(/testhost.*exit 127.*GLIBC_2\.99/);
  });

  it('can be cancelled', async () => {
    const abort = new AbortController();
    const agent = new FakeAgent(undefined, false);
    const connecting = AgentClient.connect(agent.stream(), { signal: abort.signal });
    abort.abort();
    expect(await rejection(connecting)).toBeInstanceOf(Cancelled);
    expect(agent.disposed).toBe(true);
  });
});

describe('requests', () => {
  it('are matched by id, in whatever order the answers come', async () => {
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream());
    const free = client.request('disk.free', { path: nodePath('/a') });
    const greeting = client.request('hello');
    await agent.received(2);
    const [first, second] = agent.requests;
    expect(first).toMatchObject({ method: 'disk.free', params: { path: '/a' } });
    agent.send({ id: second?.id, result: hello });
    agent.send({ id: first?.id, result: { free: 1, total: 2, inodesFree: 3 } });
    expect(await greeting).toEqual(hello);
    expect(await free).toEqual({ free: 1, total: 2, inodesFree: 3 });
    client.dispose();
  });

  it('get the agent’s own errors with code and method', async () => {
    const agent = new FakeAgent(() => ({
      error: { code: 4, message: 'the run is running. Stop it first.' },
    }));
    const client = await AgentClient.connect(agent.stream());
    const error = await rejection(client.request('run.delete', { dir: nodePath('/r') }));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({
      code: 4,
      method: 'run.delete',
      message: 'the run is running. Stop it first.',
    });
    client.dispose();
  });

  it('time out one by one, and a late answer hurts nobody', async () => {
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream());
    const error = await rejection(client.request('hello', undefined, { timeout: 20 }));
    expect(error).toMatchObject({ code: 'connection' });
    agent.send({ id: agent.requests[0]?.id, result: hello });
    const again = client.request('hello');
    await agent.received(2);
    agent.send({ id: agent.requests[1]?.id, result: hello });
    expect(await again).toEqual(hello);
    client.dispose();
  });

  it('are refused when the answer is not what the method promises', async () => {
    const agent = new FakeAgent(() => ({ result: { ...hello, cores: 'two' } }));
    const client = await AgentClient.connect(agent.stream());
    expect(String(await rejection(client.request('hello')))).toMatch(/hello answered cores: /);
    client.dispose();
  });

  it('are all rejected with the last stderr lines when the agent ends, and later ones at once', async () => {
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream());
    const closes: Error[] = [];
    client.onClose((error) => closes.push(error));
    const waiting = [
      rejection(client.request('hello')),
      rejection(client.request('run.list', { workdir: nodePath('/w') })),
    ];
    await agent.received(2);
    agent.end('signal SIGKILL', ['one', 'two']);
    for (const error of await Promise.all(waiting)) {
      expect(error).toMatchObject({ code: 'connection' });
      expect(String(error)).toMatch(/signal SIGKILL.*one \| two/);
    }
    expect(client.isClosed).toBe(true);
    expect(closes).toHaveLength(1);
    expect(await rejection(client.request('hello'))).toBe(closes[0]);
  });

  it('are cancelled by dispose', async () => {
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream());
    const error = rejection(client.request('hello'));
    await agent.received(1);
    client.dispose();
    expect(await error).toBeInstanceOf(Cancelled);
    expect(agent.disposed).toBe(true);
  });

  it('of more than the limit are not sent', async () => {
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream());
    const request = client.request('disk.free', { path: nodePath('x'.repeat(maxMessageBytes)) });
    expect(await rejection(request)).toBeInstanceOf(RangeError);
    expect(agent.requests).toEqual([]);
    client.dispose();
  });
});

describe('what comes in', () => {
  it('is understood at every split of the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 200 }),
        async (sizes) => {
          const agent = new FakeAgent();
          const client = await AgentClient.connect(agent.stream());
          const notes: AgentNotification[] = [];
          client.onNotification((note) => notes.push(note));
          const greeting = client.request('hello');
          await agent.received(1);
          const data = { method: 'file.data', params: { id: 1, offset: 0, data: 'aGVsbG8=' } };
          const messages = [data, { id: agent.requests[0]?.id, result: { ...hello, user: 'Zoë 🚂' } }, data];
          const bytes = Buffer.from(
            messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
          );
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            agent.write(bytes.subarray(at, at + size));
            at += size;
          }
          expect(await greeting).toMatchObject({ user: 'Zoë 🚂' });
          await expect.poll(() => notes.length).toBe(2);
          expect(notes[0]).toEqual(data);
          client.dispose();
        },
      ),
      { numRuns: 40 },
    );
  });

  it('and is no JSON closes the connection', async () => {
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream());
    const error = rejection(client.request('hello'));
    await agent.received(1);
    agent.write('Segmentation fault\n');
    expect(String(await error)).toContain('not of its protocol');
    expect(agent.disposed).toBe(true);
  });

  it('and is longer than the limit closes the connection', async () => {
    const agent = new FakeAgent();
    const client = await AgentClient.connect(agent.stream());
    const error = rejection(client.request('hello'));
    await agent.received(1);
    agent.write(Buffer.alloc(maxMessageBytes + 1, 120));
    expect(String(await error)).toContain(`more than ${maxMessageBytes} bytes`);
  });

  it('and is a notification of a newer agent is passed over', async () => {
    const agent = new FakeAgent(() => ({ result: hello }));
    const client = await AgentClient.connect(agent.stream());
    const notes: AgentNotification[] = [];
    client.onNotification((note) => notes.push(note));
    agent.send({ method: 'weather', params: {} });
    expect(await client.request('hello')).toEqual(hello);
    expect(notes).toEqual([]);
    client.dispose();
  });
});
