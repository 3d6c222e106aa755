// Bytes sent by ssh2 without new memory for each packet: what arrives, also when keys are renewed
// meanwhile, and what is held.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import type { SshConnection } from '../../../src/core/ssh/base/transport.js';
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
