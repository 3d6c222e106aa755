import { createHash, randomBytes } from 'node:crypto';
import { createServer as createHttpServer, request, type RequestListener, type Server } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Cancelled } from '../../../../src/core/base/errors.js';
import { HttpBridge } from '../../../../src/core/tunnels/httpBridge.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
const open: { close?: () => void; dispose?: () => void }[] = [];
afterEach(() => {
  for (const item of open.splice(0)) {
    item.close?.();
    item.dispose?.();
  }
});
let count = 0;

async function bridgeTo(answer: RequestListener, port = 0): Promise<HttpBridge> {
  const server: Server = createHttpServer(answer);
  const path = join(folder, `s${count++}`);
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  const options = { connect: () => Promise.resolve(connect(path)), port, howToOpen: 'Open it so' };
  const bridge = await HttpBridge.open(options);
  open.push(bridge);
  return bridge;
}

/** The status of a request with these headers; fetch does not let its Host be chosen. */
function statusOf(bridge: HttpBridge, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const path = new URL(bridge.url).pathname;
    const asked = request({ host: '127.0.0.1', port: bridge.port, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** What comes back for these bytes, until the other side closes. */
function raw(bridge: HttpBridge, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect({ host: '127.0.0.1', port: bridge.port });
    socket.setEncoding('latin1').on('data', (part: string) => (said += part));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(said);
    });
    socket.write(text);
  });
}

async function takenPort(): Promise<number> {
  const server = createServer();
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen({ host: '127.0.0.1', port: 0 }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

describe('HttpBridge', () => {
  it('carries requests and answers to a server on the socket', async () => {
    const bridge = await bridgeTo((asked, response) => {
      response.writeHead(201, { 'x-of': 'server' });
      response.end(`you asked for ${asked.url ?? ''}`);
    });
    const answer = await fetch(`${bridge.url}data/runs?x=1`);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-of')).toBe('server');
    expect(await answer.text()).toBe('you asked for /data/runs?x=1');
    expect(bridge.bytesOut).toBeGreaterThan('you asked for /data/runs?x=1'.length);
    expect(await bridge.answers()).toBe(true);
    await expect.poll(() => bridge.connections).toBe(0);
  });

  it('carries megabytes byte for byte, both ways, many requests at once', async () => {
    const bridge = await bridgeTo((asked, response) => {
      asked.pipe(response);
    });
    const once = async (): Promise<void> => {
      const sent = randomBytes(3_000_000);
      const answer = await fetch(bridge.url, { method: 'POST', body: sent });
      const back = Buffer.from(await answer.arrayBuffer());
      const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
      expect(hash(back)).toBe(hash(sent));
    };
    await Promise.all(Array.from({ length: 8 }, once));
    expect(bridge.bytesIn).toBeGreaterThan(24_000_000);
    expect(bridge.bytesOut).toBeGreaterThan(24_000_000);
  });

  it('answers only requests that name an address that was given out', async () => {
    const bridge = await bridgeTo((_, response) => response.end('private'));
    const own = `127.0.0.1:${bridge.port}`;
    expect(await statusOf(bridge, { host: own })).toBe(200);
    expect(await statusOf(bridge, { host: `LOCALHOST:${bridge.port}` })).toBe(200);
    expect(await statusOf(bridge, { host: own, origin: `http://${own}` })).toBe(200);
    expect(await statusOf(bridge, { host: 'evil.example' })).toBe(403);
    expect(await statusOf(bridge, { host: `evil.example:${bridge.port}` })).toBe(403);
    expect(await statusOf(bridge, { host: own, origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf(bridge, { host: own, origin: 'null' })).toBe(403);
    expect(await statusOf(bridge, { host: 'editor.example:8080' })).toBe(403);
    bridge.allow('Editor.example:8080');
    expect(await statusOf(bridge, { host: 'editor.example:8080' })).toBe(200);
    expect(await statusOf(bridge, { host: own, origin: 'https://editor.example:8080' })).toBe(200);
  });

  it('judges each request of a connection', async () => {
    const bridge = await bridgeTo((_, response) => response.end('private'));
    const own = `127.0.0.1:${bridge.port}`;
    const path = new URL(bridge.url).pathname;
    const said = await raw(
      bridge,
      `GET ${path} HTTP/1.1\r\nHost: ${own}\r\n\r\nGET ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    );
    expect(said.match(/private/g)).toHaveLength(1);
    expect(await raw(bridge, `GET / HTTP/1.1\r\nHost: ${own}\r\nHost: evil.example\r\n\r\n`)).toContain(
      '400',
    );
    expect(await raw(bridge, `GET / HTTP/1.1\r\nOrigin: x\r\n\r\n`)).toContain('403');
    expect(await raw(bridge, 'hello\r\n\r\n')).toContain('400');
    expect(await raw(bridge, `GET / HTTP/1.1\r\nA: ${'a'.repeat(70_000)}`)).toContain('400');
  });

  it('answers only requests whose path begins with its key', async () => {
    const bridge = await bridgeTo((asked, response) => response.end(`private ${asked.url ?? ''}`));
    const other = await bridgeTo((_, response) => response.end('private'));
    const get = (path: string): Promise<Response> =>
      fetch(new URL(path, bridge.root), { redirect: 'manual' });
    const key = new URL(bridge.url).pathname;
    expect(key).toMatch(/^\/[0-9a-f]{32}\/$/);
    expect(await (await get(`${key}data/runs?x=1`)).text()).toBe('private /data/runs?x=1');
    const refused = ['/', '/data/runs', `/x${key}`, `${key.slice(0, -1)}0/`, `${key.slice(0, -1)}x`];
    for (const path of [...refused, new URL(other.url).pathname]) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 403]);
      expect(await answer.text()).toMatch(/This TensorBoard is private: .*\nOpen it so\n$/);
    }
    const short = await get(`${key.slice(0, -1)}?dark=1`);
    expect([short.status, short.headers.get('location')]).toEqual([302, `${key.slice(1)}?dark=1`]);
  });

  it('gives an address for one use, which leads to the key behind any path', async () => {
    const bridge = await bridgeTo((_, response) => response.end('private'));
    const once = bridge.under(bridge.root, true);
    expect(once).not.toContain(new URL(bridge.url).pathname);
    const answer = await fetch(once);
    expect([answer.url, await answer.text()]).toEqual([bridge.url, 'private']);
    expect((await fetch(once)).status).toBe(403);
    const forwarded = new URL(bridge.under('https://editor.example/proxy/6006', true));
    expect(forwarded.pathname).toMatch(/^\/proxy\/6006\/[0-9a-f]{32}\/$/);
    const moved = await fetch(new URL(forwarded.pathname.slice('/proxy/6006'.length), bridge.root), {
      redirect: 'manual',
    });
    const to = new URL(moved.headers.get('location') ?? '', forwarded);
    expect(to.href).toBe(bridge.under('https://editor.example/proxy/6006/'));
  });

  it('takes the next free port when the first is taken', async () => {
    const taken = await takenPort();
    const bridge = await bridgeTo(() => undefined, taken);
    expect(bridge.port).toBeGreaterThan(taken);
    expect(bridge.port).toBeLessThan(taken + 100);
  });

  it('says so when none is free', async () => {
    const port = await takenPort();
    const opening = HttpBridge.open({ connect: () => Promise.resolve(connect('/nowhere')), port, tries: 1 });
    await expect(opening).rejects.toMatchObject({
      code: 'preflight',
      message: expect.stringContaining(String(port)) as string,
    });
  });

  it('cannot be reached from another address than the loopback one', async () => {
    const bridge = await bridgeTo(() => undefined);
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address);
    for (const host of [...others, '127.0.0.2']) {
      const refused = await new Promise<boolean>((resolve) => {
        const socket = connect({ host, port: bridge.port }, () => {
          socket.destroy();
          resolve(false);
        });
        socket.on('error', () => {
          resolve(true);
        });
      });
      expect(refused, host).toBe(true);
    }
  });

  it('says that nobody answers when nobody listens on the socket', async () => {
    const bridge = await HttpBridge.open({
      connect: () => Promise.resolve(connect(join(folder, 'nobody'))),
      port: 0,
    });
    open.push(bridge);
    const answer = await fetch(bridge.url);
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('does not answer');
  });

  it('says the same of a server that dies before it answers', async () => {
    const path = join(folder, 'dying');
    const dying = createServer((socket) => socket.once('data', () => socket.end()));
    await new Promise<void>((resolve) => dying.listen(path, resolve));
    const bridge = await HttpBridge.open({ connect: () => Promise.resolve(connect(path)), port: 0 });
    open.push(bridge);
    const answer = await fetch(bridge.url);
    dying.close();
    expect(answer.status).toBe(502);
  });

  it('breaks off an answer whose server breaks off', async () => {
    const bridge = await bridgeTo((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setTimeout(() => response.destroy(), 20);
    });
    const answer = await fetch(bridge.url);
    await expect(answer.text()).rejects.toThrow();
  });

  it('ends open connections when it is disposed of', async () => {
    const bridge = await bridgeTo(() => undefined);
    const answer = fetch(bridge.url);
    const failed = expect(answer).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    bridge.dispose();
    await failed;
  });
});

describe('a server that takes the question whether it serves, and does not answer', () => {
  const silentChannel = (): Duplex => new Duplex({ read: () => undefined, write: () => undefined });

  afterEach(() => {
    vi.useRealTimers();
  });

  /** A bridge to it; `connect` makes the channel, or never does. */
  async function bridgeBy(connect: () => Promise<Duplex>): Promise<HttpBridge> {
    const bridge = await HttpBridge.open({ connect });
    open.push(bridge);
    return bridge;
  }

  it('counts as one that does not serve after some seconds, and its channel goes', async () => {
    const channel = silentChannel();
    const bridge = await bridgeBy(() => Promise.resolve(channel));
    vi.useFakeTimers();
    const asked = bridge.answers();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await asked).toBe(false);
    expect(channel.destroyed).toBe(true);
  });

  it('is given up at once by who asked', async () => {
    const channel = silentChannel();
    const bridge = await bridgeBy(() => Promise.resolve(channel));
    const abort = new AbortController();
    const asked = bridge.answers(abort.signal);
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await expect(asked).rejects.toBeInstanceOf(Cancelled);
    expect(channel.destroyed).toBe(true);
  });

  it('has its channel destroyed where that is made too late', async () => {
    const channel = silentChannel();
    let make: (made: Duplex) => void = () => undefined;
    const bridge = await bridgeBy(
      () =>
        new Promise((resolve) => {
          make = resolve;
        }),
    );
    vi.useFakeTimers();
    const asked = bridge.answers();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await asked).toBe(false);
    make(channel);
    await vi.advanceTimersByTimeAsync(0);
    expect(channel.destroyed).toBe(true);
  });
});
