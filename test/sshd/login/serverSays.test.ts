// What a server says: its prompts cannot write over what stands on the screen or get an answer that
// was meant for somebody else, and its last words are shown.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Bootstrap } from '../../../src/core/setup/bootstrap.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.js';
import { OpensshTransport } from '../../../src/core/ssh/openssh/opensshTransport.js';
import type { SshTarget } from '../../../src/core/ssh/base/transport.js';
import { known, ScriptedPrompter, World } from '../support/hosts.js';
import { passwordOptions, setPassword } from '../support/passwords.js';

const world = new World();
const surroundings = { env: { PATH: process.env['PATH'], HOME: world.dir }, home: world.dir };
const locked = world.makeKey('locked', { passphrase: 'open sesame' });
const stranger = world.makeKey('stranger');
const hostKey = world.makeKey('host');
const address = '127.0.0.9';
let prompter: ScriptedPrompter;
let sftpOnly: SshTarget;
let expired: SshTarget;

/** A server of ssh2's that wants a key and then asks, in these words. `answers`: what it got. */
async function asking(prompt: string): Promise<{ target: SshTarget; answers: string[]; stop: () => void }> {
  const answers: string[] = [];
  const server = new ssh2.Server({ hostKeys: [readFileSync(hostKey)] }, (client) => {
    let hasKey = false;
    client.on('error', () => undefined); // who was asked goes away
    client.on('authentication', (context) => {
      if (context.method === 'publickey') {
        hasKey ||= context.signature !== undefined;
        if (hasKey) context.reject(['keyboard-interactive'], true);
        else context.accept();
      } else if (context.method === 'keyboard-interactive') {
        context.prompt(
          [{ prompt, echo: false }],
          'two\x07factors',
          'first line\nsecond\x1b[1A line',
          (given) => {
            answers.push(...given);
            context.reject(['publickey']);
          },
        );
      } else context.reject(hasKey ? ['keyboard-interactive'] : ['publickey']);
    });
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const key = readFileSync(`${hostKey}.pub`, 'utf8');
  writeFileSync(join(world.dir, 'known_hosts'), `[${address}]:${port} ${key}`, { flag: 'a' });
  const target = { host: address, port, user: 'me', identityFile: locked };
  return { target, answers, stop: () => server.close() };
}

function transportOf(kind: 'ssh2' | 'openssh'): LazyTransport {
  const { home, configFile } = world;
  const options = { prompter, home, logger: nullLogger, configFile, surroundings };
  return new LazyTransport({ transport: kind }, options);
}

beforeAll(async () => {
  const banner = join(world.dir, 'banner');
  writeFileSync(banner, 'Welcome.\nThe account \x1b[2Jhas expired: write to help@example.org\n');
  const extraConfig = ['ForceCommand internal-sftp', `Banner ${banner}`];
  const sftp = await world.serve('127.0.0.2', { extraConfig });
  sftpOnly = { host: sftp.address, port: sftp.port, identityFile: world.key };
  const old = await world.serve('127.0.0.3', {
    extraConfig: [...passwordOptions, 'AuthenticationMethods any', 'PubkeyAuthentication no'],
  });
  setPassword(old, 'secret', { expired: true });
  expired = { host: old.address, port: old.port };
  world.know(known(sftp), known(old));
});
beforeEach(() => {
  prompter = new ScriptedPrompter();
});
afterAll(() => world.remove());

describe.each(['ssh2', 'openssh'] as const)('by %s', (kind) => {
  test('its last words are shown: sftp only, and a password that has expired', async () => {
    const said = async (target: SshTarget): Promise<string> => {
      const transport = transportOf(kind);
      try {
        const connection = await transport.connect(target, {});
        const error: unknown = await Bootstrap.open(connection, 'pass').catch((caught: unknown) => caught);
        return String(error);
      } finally {
        transport.dispose();
      }
    };
    for (let round = 0; round < 4; ++round) expect(await said(sftpOnly)).toContain('sftp connections only');
    prompter.answers = ['secret', 'secret'];
    for (let round = 0; round < 2; ++round) expect(await said(expired)).toMatch(/password has expired/i);
  });

  test('what it said before it refused a login is shown, without control characters', async () => {
    const transport = transportOf(kind);
    const error: unknown = await transport
      .connect({ ...sftpOnly, identityFile: stranger }, {})
      .catch((caught: unknown) => caught);
    transport.dispose();
    expect(String(error)).toMatch(
      /does not let .* in.* It said: Welcome\. \| The account .*has expired: write to help@/,
    );
    expect(String(error)).not.toMatch(/\p{Cc}/u);
  });

  test('its prompt has no control characters, and says whose it is', async () => {
    const server = await asking('\r\x1b[KPassword of root@bank\u202e: ');
    prompter.answers = ['open sesame', undefined];
    const transport = transportOf(kind);
    await expect(transport.connect(server.target, {})).rejects.toMatchObject({ name: 'Cancelled' });
    transport.dispose();
    server.stop();
    const asked = prompter.secrets.at(-1);
    expect(asked).toMatchObject({ kind: 'keyboard-interactive', host: address, user: 'me' });
    expect(asked?.prompt).toMatch(/\\(x1b|033)\[KPassword of root@bank\\(u202e|342\\200\\256)/);
    expect(asked?.prompt).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  });

  test('its error has none either', async () => {
    const server = await asking('Code: ');
    const transport = transportOf(kind);
    prompter.answers = ['open sesame', '123'];
    const error: unknown = await transport.connect(server.target, {}).catch((caught: unknown) => caught);
    expect(String(error)).not.toMatch(/\p{Cc}/u);
    expect(server.answers).toEqual(['123']);
    transport.dispose();
    server.stop();
  });
});

test('an ssh that does not mark prompts of servers gets no passphrase that was entered before', async () => {
  // In the place of OpenSSH 8.4: the real one, whose mark at prompts of servers is taken away.
  const bin = join(world.dir, 'old');
  mkdirSync(bin);
  const real = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  const program = (name: string, ...lines: string[]): string => {
    writeFileSync(join(bin, name), `${['#!/bin/sh', ...lines].join('\n')}\n`);
    chmodSync(join(bin, name), 0o755);
    return join(bin, name);
  };
  const unmarked = program('ask', `exec "$REAL_ASKPASS" "$(printf %s "$1" | sed 's/^([^)]*) //')"`);
  const version = 'if [ "$*" = -V ]; then echo "OpenSSH_8.4p1, OpenSSL 1.1.1w" >&2; exit; fi';
  const swap = `if [ -n "$SSH_ASKPASS" ]; then export REAL_ASKPASS="$SSH_ASKPASS" SSH_ASKPASS='${unmarked}'; fi`;
  const ssh = program('ssh', version, swap, `exec '${real}' "$@"`);
  const server = await asking(`Enter passphrase for key '${locked}': `);
  const { home, configFile } = world;
  const transport = new OpensshTransport({ prompter, home, configFile, surroundings, ssh });
  prompter.answers = ['open sesame', undefined];
  await expect(transport.connect(server.target, {})).rejects.toMatchObject({ name: 'Cancelled' });
  expect(server.answers).toEqual([]);
  expect(prompter.secrets).toHaveLength(2);
  transport.dispose();
  server.stop();
});
