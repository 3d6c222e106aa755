// One verdict on a host's key, whichever transport makes the connection: a key that Trainyard's own
// store holds counts for the user's own ssh too, also where only that ssh can reach the host.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import { nullLogger } from '../../../src/core/base/log.js';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.js';
import type { SshTarget } from '../../../src/core/ssh/base/transport.js';
import { known, ScriptedPrompter, text, World } from '../support/hosts.js';

const world = new World();
const publicKey = (path: string): string =>
  readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
const other = publicKey(world.makeKey('other'));
const otherType = publicKey(world.makeKey('rsa', { type: 'rsa', words: ['-b', '2048'] }));
/** With a blank, as folders may have one. */
const home = join(world.dir, 'own folder');
const store = join(home, 'known_hosts');
const surroundings = { env: { PATH: process.env['PATH'] }, home: world.dir };
let jump: Sshd;
/** Its key exchange is one that ssh2 lacks. */
let modern: Sshd;
let plain: Sshd;
let prompter: ScriptedPrompter;

const place = (server: Sshd): string => `[${server.address}]:${server.port}`;
/** Trainyard's own store; nothing else knows a host. */
const stored = (...lines: string[]): void => {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(store, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
};
const logins = (): number =>
  [jump, modern, plain]
    .map((server) => readFileSync(server.log, 'utf8'))
    .join('')
    .split('Accepted publickey').length - 1;

type Kind = 'auto' | 'ssh2' | 'openssh';
const targetOf = (server: Sshd, way: 'direct' | 'jump' = 'direct'): SshTarget => ({
  host: server.address,
  port: server.port,
  identityFile: world.key,
  ...(way === 'jump' ? { proxyJump: `${jump.address}:${jump.port}` } : {}),
});

async function hello(kind: Kind, target: SshTarget): Promise<string> {
  const { configFile } = world;
  const options = { prompter, home, logger: nullLogger, configFile, surroundings };
  const transport = new LazyTransport({ transport: kind }, options);
  try {
    const connection = await transport.connect(target, {});
    return await text((await connection.exec('echo hello')).stdout);
  } finally {
    transport.dispose();
  }
}

beforeAll(async () => {
  jump = await world.serve('127.0.0.2');
  const extraConfig = ['KexAlgorithms sntrup761x25519-sha512@openssh.com'];
  modern = await world.serve('127.0.0.3', { extraConfig });
  plain = await world.serve('127.0.0.4');
});
beforeEach(() => {
  prompter = new ScriptedPrompter();
  world.know();
  world.configure(`IdentityFile ${world.key}`);
});
afterAll(() => world.remove());

describe.each(['auto', 'openssh'] as const)('transport %s', (kind) => {
  test.each(['direct', 'jump'] as const)(
    'reaches a host that only the own store knows (%s), and refuses its changed key without a question',
    async (way) => {
      stored(known(jump), known(modern));
      expect(await hello(kind, targetOf(modern, way))).toBe('hello\n');
      stored(known(jump), `${place(modern)} ${other}`);
      await expect(hello(kind, targetOf(modern, way))).rejects.toThrow(
        /the host key of 127\.0\.0\.3 has changed.*own folder\/known_hosts:2/,
      );
      expect([prompter.questions, prompter.secrets]).toEqual([[], []]);
    },
  );
});

describe.each(['ssh2', 'openssh'] as const)('transport %s', (kind) => {
  test('refuses a key of another type than the known one without a question', async () => {
    stored(`${place(plain)} ${otherType}`);
    const before = logins();
    await expect(hello(kind, targetOf(plain))).rejects.toThrow(
      /the host key of 127\.0\.0\.4 has changed.*own folder\/known_hosts:1/,
    );
    expect([prompter.questions, logins()]).toEqual([[], before]);
  });

  test('refuses an unknown key without a question where the configuration says StrictHostKeyChecking yes', async () => {
    stored();
    world.configure(`IdentityFile ${world.key}\nStrictHostKeyChecking yes`);
    await expect(hello(kind, targetOf(plain))).rejects.toThrow(
      /the host key of 127\.0\.0\.4.* is not known, and StrictHostKeyChecking/,
    );
    expect(prompter.questions).toEqual([]);
    stored(known(plain));
    expect(await hello(kind, targetOf(plain))).toBe('hello\n');
  });

  test('refuses a changed key of this machine too, with NoHostAuthenticationForLocalhost', async () => {
    stored(`${place(plain)} ${other}`);
    world.configure(`IdentityFile ${world.key}\nNoHostAuthenticationForLocalhost yes`);
    await expect(hello(kind, targetOf(plain))).rejects.toThrow(/the host key of 127\.0\.0\.4 has changed/);
    expect(prompter.questions).toEqual([]);
  });

  test('keeps an accepted key in the own store, where either transport finds it', async () => {
    stored();
    expect(await hello(kind, targetOf(plain))).toBe('hello\n');
    expect(prompter.questions).toHaveLength(1);
    for (const next of ['ssh2', 'openssh'] as const)
      expect(await hello(next, targetOf(plain))).toBe('hello\n');
    expect(prompter.questions).toHaveLength(1);
    expect(readFileSync(join(world.dir, 'known_hosts'), 'utf8')).toBe('');
    expect(readFileSync(store, 'utf8').split('\n').filter(Boolean)).toEqual([known(plain)]);
  });
});

test('a key in RevokedHostKeys is refused, and by ssh2 alone no such host is reached', async () => {
  const revoked = join(world.dir, 'revoked keys');
  writeFileSync(revoked, `${plain.hostKey}\n`);
  world.configure(`IdentityFile ${world.key}\nRevokedHostKeys "${revoked}"`);
  stored(known(plain), known(jump));
  for (const kind of ['auto', 'openssh'] as const)
    await expect(hello(kind, targetOf(plain))).rejects.toThrow(/refuses the host key .*revoked/);
  await expect(hello('ssh2', targetOf(plain))).rejects.toThrow(/needs your own ssh.*RevokedHostKeys/);
  expect(await hello('auto', targetOf(jump))).toBe('hello\n');
  expect(prompter.questions).toEqual([]);
});
