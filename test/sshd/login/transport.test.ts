// The SSH transport against real servers: login by key, programs with pipes, forwards, and a
// connection that is lost.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import type { SshConnection, SshTarget } from '../../../src/core/ssh/base/transport.js';
import { known, ScriptedPrompter, text, World } from '../support/hosts.js';

const world = new World();
let server: Sshd;
let target: SshTarget;
let connection: SshConnection;
const prompter = new ScriptedPrompter();

beforeAll(async () => {
  server = await world.serve('127.0.0.2');
  world.know(known(server));
  target = { host: server.address, port: server.port, identityFile: world.key };
  connection = await world.transport(prompter).connect(target);
});
afterAll(() => world.remove());

/** What a listener got, and what it answers with: the same, in capitals. */
async function echo(listen: (server: Server) => void): Promise<Server> {
  const listener = createServer((socket) => {
    socket.on('data', (data) => socket.write(data.toString().toUpperCase()));
    socket.on('end', () => socket.end());
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => {
    listener.once('listening', resolve);
    listen(listener);
  });
  return listener;
}

test('a key that needs no passphrase and a host that is known lead to no question', () => {
  expect(prompter.secrets).toEqual([]);
  expect(prompter.questions).toEqual([]);
  expect(readFileSync(server.log, 'utf8')).toContain('Accepted publickey');
});

test('a program has three pipes and an end', async () => {
  const channel = await connection.exec('cat; echo on stderr >&2; exit 7');
  channel.stdin.end('in and out\n');
  const [out, error] = await Promise.all([text(channel.stdout), text(channel.stderr)]);
  expect([out, error]).toEqual(['in and out\n', 'on stderr\n']);
  expect(await channel.closed).toEqual({ code: 7, signal: null });
});

test('a program ends also when nobody reads what it printed, and it can be read afterwards', async () => {
  const channel = await connection.exec('cat > /dev/null; echo done');
  channel.stdin.end(Buffer.alloc(5_000_000));
  expect(await channel.closed).toEqual({ code: 0, signal: null });
  expect(await text(channel.stdout)).toBe('done\n');
});

test('the end of a program comes after all it printed', async () => {
  const channel = await connection.exec('head -c 3000000 /dev/zero; echo >&2 last');
  let bytes = 0;
  let errors = '';
  channel.stdout.on('data', (data: Buffer) => (bytes += data.length));
  channel.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  await channel.closed;
  expect([bytes, errors]).toEqual([3_000_000, 'last\n']);
});

test('a reader that stops ends the program', async () => {
  const channel = await connection.exec('exec yes');
  channel.stdout.destroy();
  const { code, signal } = await channel.closed;
  expect(code === 0).toBe(false);
  expect([null, 'SIGPIPE', 'SIGHUP']).toContain(signal);
});

test('a signal that ended a program is named', async () => {
  const channel = await connection.exec('kill -TERM $$');
  await text(channel.stdout);
  expect(await channel.closed).toEqual({ code: null, signal: 'SIGTERM' });
});

test('50 MB go through a program and come back whole', async () => {
  const block = randomBytes(1_000_000);
  const sent = createHash('sha256');
  const source = Readable.from(
    (function* () {
      for (let count = 0; count < 50; count++) {
        sent.update(block);
        yield block;
      }
    })(),
  );
  const channel = await connection.exec('cat');
  const got = createHash('sha256');
  await Promise.all([pipeline(source, channel.stdin), pipeline(channel.stdout, got)]);
  expect(got.digest('hex')).toBe(sent.digest('hex'));
  expect(await channel.closed).toEqual({ code: 0, signal: null });
});

test('a Unix socket and a port of the host are reached', async () => {
  const path = join(world.dir, 'echo.sock');
  const local = await echo((listener) => listener.listen(path));
  const port = await echo((listener) => listener.listen(0, '127.0.0.1'));
  const number = (port.address() as AddressInfo).port;
  for (const stream of [
    await connection.forwardUnix(path),
    await connection.forwardTcp('127.0.0.1', number),
  ]) {
    stream.end('through the tunnel');
    expect(await text(stream)).toBe('THROUGH THE TUNNEL');
  }
  await expect(connection.forwardUnix(join(world.dir, 'nothing.sock'))).rejects.toThrow(
    /127\.0\.0\.2 does not connect to .*nothing\.sock/,
  );
  local.close();
  port.close();
});

test('a shell has the size it was given', async () => {
  const shell = await connection.shell({ columns: 91, rows: 33, term: 'xterm-256color' });
  shell.resize(92, 34);
  shell.stdin.end('stty size; echo $TERM; exit\n');
  const output = await text(shell.stdout);
  expect(output).toContain('34 92');
  expect(output).toContain('xterm-256color');
});

test('a connection that the server ends says so once, and what hangs on it ends', async () => {
  const own = await world.transport(prompter).connect(target);
  const errors: Error[] = [];
  const gone = new Promise<void>((resolve) => {
    own.onClose((error) => {
      errors.push(error);
      resolve();
    });
  });
  const channel = await own.exec('kill -9 $PPID; sleep 100');
  await text(channel.stdout);
  await gone;
  expect(own.isClosed).toBe(true);
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^the connection to 127\.0\.0\.2 was lost: /),
  ]);
  await expect(own.exec('true')).rejects.toThrow('was lost');
});

test('the user is asked about an unknown key, and the answer is kept', async () => {
  world.know();
  const first = new ScriptedPrompter();
  (await world.transport(first).connect(target)).dispose();
  expect(first.questions).toEqual([
    [
      {
        host: '127.0.0.2',
        address: '127.0.0.2',
        port: server.port,
        type: 'ssh-ed25519',
        fingerprint: server.hostKeyFingerprint,
      },
    ],
  ]);
  expect(statSync(join(world.home, 'known_hosts')).mode & 0o777).toBe(0o600);
  const second = new ScriptedPrompter();
  (await world.transport(second).connect(target)).dispose();
  expect(second.questions).toEqual([]);
});
