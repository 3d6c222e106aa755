import { createHash, randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { UnixBridge } from '../../../src/core/tunnels/unixBridge.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
const open: { close?: () => void; dispose?: () => void }[] = [];
afterEach(() => {
  for (const item of open.splice(0)) {
    item.close?.();
    item.dispose?.();
  }
});
let count = 0;
async function listening(server: Server): Promise<string> {
  const socketPath = join(folder, `s${count++}`);
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  return socketPath;
}
async function bridgeTo(server: Server, port = 0): Promise<UnixBridge> {
  const bridge = await UnixBridge.open({ socketPath: await listening(server), port });
  open.push(bridge);
  return bridge;
}
async function takenPort(): Promise<number> {
  const server = createServer();
  open.push(server);
  await new Promise<void>((resolve) => {
    server.listen({ host: '127.0.0.1', port: 0 }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

describe('UnixBridge', () => {
  it('carries requests and answers to a server on the socket', async () => {
    const bridge = await bridgeTo(
      createHttpServer((request, response) => {
        response.end(`you asked for ${request.url ?? ''}`);
      }),
    );
    const answer = await fetch(`${bridge.url}data/runs?x=1`);
    expect(await answer.text()).toBe('you asked for /data/runs?x=1');
    expect(bridge.bytesIn).toBeGreaterThan(20);
    expect(bridge.bytesOut).toBeGreaterThan(20);
  });

  it('carries megabytes byte for byte, both ways at once, on many connections', async () => {
    const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
    const bridge = await bridgeTo(echo);
    const once = async (): Promise<void> => {
      const sent = randomBytes(3_000_000);
      const hash = createHash('sha256');
      await new Promise<void>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: bridge.port, allowHalfOpen: true });
        socket.on('data', (chunk) => hash.update(chunk));
        socket.on('end', resolve);
        socket.on('error', reject);
        socket.end(sent);
      });
      expect(hash.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
    };
    await Promise.all(Array.from({ length: 8 }, once));
    await expect.poll(() => bridge.connections).toBe(0);
    expect(bridge.bytesIn).toBe(24_000_000);
    expect(bridge.bytesOut).toBe(24_000_000);
  });

  it('takes the next free port when the first is taken', async () => {
    const taken = await takenPort();
    const bridge = await bridgeTo(createServer(), taken);
    expect(bridge.port).toBeGreaterThan(taken);
    expect(bridge.port).toBeLessThan(taken + 100);
  });

  it('says so when none is free', async () => {
    const port = await takenPort();
    const opening = UnixBridge.open({ socketPath: '/nowhere', port, tries: 1 });
    await expect(opening).rejects.toMatchObject({
      code: 'preflight',
      message: expect.stringContaining(String(port)) as string,
    });
  });

  it('cannot be reached from another address than the loopback one', async () => {
    const bridge = await bridgeTo(createServer());
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

  it('closes the browser’s connection when nobody listens on the socket', async () => {
    const bridge = await UnixBridge.open({ socketPath: join(folder, 'nobody'), port: 0 });
    open.push(bridge);
    await expect(fetch(bridge.url)).rejects.toThrow();
    await expect.poll(() => bridge.connections).toBe(0);
  });

  it('ends open connections when it is disposed of', async () => {
    const bridge = await bridgeTo(createServer());
    const socket = connect({ host: '127.0.0.1', port: bridge.port });
    const gone = new Promise<void>((resolve) => {
      socket.on('close', () => {
        resolve();
      });
      socket.on('error', () => undefined);
    });
    await expect.poll(() => bridge.connections).toBe(1);
    bridge.dispose();
    await gone;
  });
});
