// Bytes sent and received by ssh2 without new memory for each packet: what arrives, also when keys
// are renewed meanwhile, and what is held.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import type { SshConnection } from '../../../src/core/ssh/base/transport.js';
import { PortForward } from '../../../src/core/tunnels/portForward.js';
import { known, ScriptedPrompter, text, World } from '../support/hosts.js';

const world = new World();
let renewing: Sshd;
let connections: SshConnection[];

beforeAll(async () => {
  renewing = await world.serve('127.0.0.2', { extraConfig: ['RekeyLimit 2M', 'LogLevel DEBUG1'] });
  const servers = [renewing, await world.serve('127.0.0.3')];
  world.know(...servers.map(known));
  const transport = world.transport(new ScriptedPrompter());
  connections = await Promise.all(
    servers.map(({ address, port }) => transport.connect({ host: address, port, identityFile: world.key })),
  );
});
afterAll(() => world.remove());
const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** Sends them one after the other; what the node's sha256sum says of all. */
async function sent(
  connection: SshConnection,
  pieces: Iterable<Buffer>,
  onPiece: () => void = () => undefined,
): Promise<string> {
  const channel = await connection.exec('sha256sum');
  const output = text(channel.stdout);
  for (const piece of pieces) {
    await new Promise<void>((resolve, reject) => {
      channel.stdin.write(piece, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    onPiece();
  }
  channel.stdin.end();
  return (await output).slice(0, 64);
}

const digest = (pieces: Iterable<Buffer>): string => {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
};

test('packets of every size arrive whole, across new keys', async () => {
  const around = [1, 4000, 4086, 4087, 4096, 4111, 32_759, 32_767, 32_768, 32_769, 65_536, 70_001];
  const sizes = Array.from({ length: 20 }, () => around).flat();
  const pieces = sizes.map((size) => randomBytes(size));
  expect(await sent(connections[0]!, pieces)).toBe(digest(pieces));
  expect(readFileSync(renewing.log, 'utf8').match(/rekey out/g)?.length ?? 0).toBeGreaterThan(0);
});

test('sending 100 MB holds little memory that only a collection would free', async () => {
  const piece = randomBytes(64 * 1024);
  const pieces = Array<Buffer>(1600).fill(piece);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const hash = await sent(connections[1]!, pieces, () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  });
  expect(hash).toBe(digest(pieces));
  expect(most).toBeLessThan(16_000_000); // what is on its way; 36 MB were seen when each packet waited for the collector
});

const renewals = (): number => readFileSync(renewing.log, 'utf8').match(/rekey (in|out)/g)?.length ?? 0;

/**
 * A port here that leads through `connection` to a server of which each connection gets to `serve`.
 */
async function tunnel(connection: SshConnection, serve: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true }, serve).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { port: 0, connect: () => connection.forwardTcp('127.0.0.1', port), remote: 'there' };
  const forward = await PortForward.open(options);
  open.push({
    close: () => {
      forward.dispose();
    },
  });
  return forward.port;
}

test('a tunnel carries bytes whole both ways, for readers of any pace, across new keys', async () => {
  const before = renewals();
  const port = await tunnel(connections[0]!, (socket) => socket.pipe(socket));
  const paces = [0, 1, 5];
  const bytes = paces.map((pace) => randomBytes(8_000_000 + pace));
  const echoes = paces.map(async (pace, index) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(bytes[index]!);
    const parts: Buffer[] = [];
    for await (const part of socket as AsyncIterable<Buffer>) {
      parts.push(part);
      if (pace > 0) await new Promise((resolve) => setTimeout(resolve, pace));
    }
    return Buffer.concat(parts);
  });
  const equal = (await Promise.all(echoes)).map((echo, index) => echo.equals(bytes[index]!));
  expect(equal).toEqual([true, true, true]);
  expect(renewals()).toBeGreaterThan(before);
});

test('receiving 100 MB through a tunnel holds little memory that only a collection would free', async () => {
  const data = Buffer.alloc(100_000_000, 'trainyard');
  const port = await tunnel(connections[1]!, (socket) => socket.end(data));
  let received = 0;
  let least = Infinity;
  let rise = 0;
  const buffer = Buffer.alloc(1024 * 1024);
  const callback = (length: number): boolean => {
    received += length;
    const { arrayBuffers } = process.memoryUsage();
    // From the least before: the collector may take what the test above left at any time.
    least = Math.min(least, arrayBuffers);
    rise = Math.max(rise, arrayBuffers - least);
    return true;
  };
  await once(connect({ port, host: '127.0.0.1', onread: { buffer, callback } }), 'close');
  expect(received).toBe(data.length);
  expect(rise).toBeLessThan(16_000_000); // what is on its way; 30 MB with packets left to the collector
});
