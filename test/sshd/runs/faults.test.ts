// What goes wrong on the way and afterwards: silence, crowds, limits of the server, readers that do
// not read.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import { isCancelled } from '../../../src/core/base/errors.js';
import { NeedsOpenSsh } from '../../../src/core/ssh/base/failures.js';
import type { SshTarget } from '../../../src/core/ssh/base/transport.js';
import { known, ScriptedPrompter, text, World } from '../support/hosts.js';
import { TcpProxy } from '../support/tcpProxy.js';

const world = new World();
const prompter = new ScriptedPrompter();
let server: Sshd;

const targetOf = ({ address, port }: { address: string; port: number }): SshTarget => ({
  host: address,
  port,
  identityFile: world.key,
});

beforeAll(async () => {
  server = await world.serve('127.0.0.2', { extraConfig: ['MaxSessions 2', 'MaxStartups 2:50:4'] });
  world.know(known(server), `* ${server.hostKey}`);
});
afterAll(() => world.remove());

test('a link that went silent is seen within 20 s', async () => {
  const proxy = await TcpProxy.start({ host: server.address, port: server.port });
  const connection = await world
    .transport(prompter)
    .connect(targetOf({ address: '127.0.0.1', port: proxy.port }));
  const lost = new Promise<Error>((resolve) => connection.onClose(resolve));
  const channel = await connection.exec('cat');
  await sleep(1000);
  const begin = performance.now();
  proxy.freeze();
  const error = await lost;
  expect(performance.now() - begin).toBeLessThan(18_000);
  expect(error.message).toMatch(/^the connection to 127\.0\.0\.1 was lost: the other side does not answer/);
  expect(await text(channel.stdout)).toBe('');
  await channel.closed;
  await proxy.stop();
});

test('a crowd gets in where the server drops most of it', async () => {
  const transport = world.transport(prompter);
  const connections = await Promise.all(
    Array.from({ length: 12 }, () => transport.connect(targetOf(server))),
  );
  const names = await Promise.all(connections.map(async (one) => text((await one.exec('echo in')).stdout)));
  expect(names).toEqual(Array.from({ length: 12 }, () => 'in\n'));
  transport.dispose();
});

test('who finds no free channel waits for one', async () => {
  const connection = await world.transport(prompter).connect(targetOf(server));
  const [first] = await Promise.all([connection.exec('cat'), connection.exec('cat')]);
  const third = connection.exec('echo third');
  await sleep(500);
  first.stdin.end();
  await text(first.stdout);
  expect(await text((await third).stdout)).toBe('third\n');
  connection.dispose();
});

test('a server that says nothing is given up on request, at once', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const abort = new AbortController();
  const connecting = world
    .transport(prompter)
    .connect(targetOf({ address: '127.0.0.1', port }), { signal: abort.signal })
    .catch((error: unknown) => error);
  await sleep(300);
  const begin = performance.now();
  abort.abort();
  expect(isCancelled(await connecting)).toBe(true);
  expect(performance.now() - begin).toBeLessThan(500);
  await new Promise((resolve) => silent.close(resolve));
});

test('what does not speak SSH is said so', async () => {
  const web = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(50));
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const { port } = web.address() as AddressInfo;
  await expect(world.transport(prompter).connect(targetOf({ address: '127.0.0.1', port }))).rejects.toThrow(
    /127\.0\.0\.1 \(port \d+\) does not speak SSH as expected: it says "HTTP\/1\.1 400 Bad Request/,
  );
  web.close();
});

test('a server with nothing in common but what is new needs the own ssh', async () => {
  const modern = await world.serve('127.0.0.3', {
    extraConfig: ['KexAlgorithms sntrup761x25519-sha512@openssh.com'],
  });
  const error = await world
    .transport(prompter)
    .connect(targetOf(modern))
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(NeedsOpenSsh);
  expect((error as Error).message).toContain('key exchange');
});

test('what nobody reads is not fetched, and what nobody takes is not sent', async () => {
  const connection = await world.transport(prompter).connect(targetOf(server));
  const flood = await connection.exec('cat /dev/zero');
  const before = process.memoryUsage().rss;
  await sleep(1500);
  expect(flood.stdout.readableLength).toBeLessThan(8 * 1024 * 1024);
  flood.dispose();
  await flood.closed;
  const deaf = await connection.exec('sleep 60');
  const block = Buffer.alloc(1024 * 1024);
  let taken = 0;
  const fill = async (): Promise<void> => {
    for (; taken < 500; taken++)
      if (!deaf.stdin.write(block)) await new Promise((go) => deaf.stdin.once('drain', go));
  };
  await Promise.race([fill(), sleep(1500)]);
  expect(taken).toBeLessThan(16);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  connection.dispose();
});

test('a forward whose far end goes away ends, with what was being written', async () => {
  const path = join(world.dir, 'short.sock');
  const short = createServer((socket) => {
    socket.once('data', () => socket.destroy());
  });
  await new Promise<void>((resolve) => short.listen(path, resolve));
  const connection = await world.transport(prompter).connect(targetOf(server));
  const stream = await connection.forwardUnix(path);
  const ended = new Promise((resolve) => stream.once('close', resolve));
  stream.resume();
  for (let count = 0; count < 8; count++) stream.write(Buffer.alloc(1024 * 1024));
  await ended;
  short.close();
  connection.dispose();
});

test('50 connections leave nothing behind', async () => {
  const descriptors = (): number => process.getActiveResourcesInfo().length;
  const transport = world.transport(prompter);
  const once = async (): Promise<void> => {
    const connection = await transport.connect(targetOf(server));
    await text((await connection.exec('true')).stdout);
    connection.dispose();
  };
  await once();
  await sleep(300);
  const before = descriptors();
  for (let count = 0; count < 10; count++) await Promise.all([once(), once(), once(), once(), once()]);
  await sleep(2500);
  expect(descriptors()).toBeLessThanOrEqual(before + 2);
});
