// Logging in to real servers: what is offered, what the user is asked, and what is said when it
// fails.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import { errorWords } from '../../../src/cli/remedies.js';
import { isCancelled, UserError } from '../../../src/core/base/errors.js';
import { nullLogger } from '../../../src/core/base/log.js';
import type { SshTarget } from '../../../src/core/ssh/base/transport.js';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.js';
import { known, ScriptedPrompter, text, World } from '../support/hosts.js';
import { pamPrefix, passwordOptions, setPassword } from '../support/passwords.js';

const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;
const user = userInfo().username;
const password = 'correct horse';
const world = new World();
let prompter: ScriptedPrompter;
const keys = {
  encrypted: world.makeKey('encrypted', { passphrase: 'open sesame' }),
  pem: world.makeKey('pem', { type: 'rsa', passphrase: 'open sesame', words: ['-m', 'PEM', '-b', '2048'] }),
  rsa: world.makeKey('rsa', { type: 'rsa', words: ['-b', '2048'] }),
  ecdsa: world.makeKey('ecdsa', { type: 'ecdsa' }),
  stranger: world.makeKey('stranger'),
};
let byKey: Sshd;
let byPassword: Sshd;

const publicKeys = (): string =>
  [world.key, keys.encrypted, keys.pem, keys.rsa, keys.ecdsa]
    .map((path) => readFileSync(`${path}.pub`, 'utf8'))
    .join('');

const targetOf = (server: Sshd, more: Partial<SshTarget> = {}): SshTarget => ({
  host: server.address,
  port: server.port,
  ...more,
});

async function whoami(target: SshTarget, env?: NodeJS.ProcessEnv): Promise<string> {
  const transport = world.transport(prompter, env);
  try {
    const connection = await transport.connect(target);
    const channel = await connection.exec('whoami');
    return (await text(channel.stdout)).trim();
  } finally {
    transport.dispose();
  }
}

beforeAll(async () => {
  byKey = await world.serve('127.0.0.2', { authorizedKey: publicKeys() });
  byPassword = await world.serve('127.0.0.3', {
    extraConfig: [...passwordOptions, 'AuthenticationMethods any', 'PubkeyAuthentication no'],
  });
  setPassword(byPassword, password);
  world.know(known(byKey), known(byPassword));
});
beforeEach(() => {
  prompter = new ScriptedPrompter();
});
afterAll(() => world.remove());

test.each(['rsa', 'ecdsa'] as const)('a key of type %s logs in without a question', async (name) => {
  expect(await whoami(targetOf(byKey, { identityFile: keys[name] }))).toBe(user);
  expect(prompter.secrets).toEqual([]);
});

test.each(['encrypted', 'pem'] as const)(
  'an encrypted key (%s) asks once for its passphrase',
  async (name) => {
    prompter.answers = ['open sesame'];
    const transport = world.transport(prompter);
    const target = targetOf(byKey, { identityFile: keys[name] });
    await Promise.all([transport.connect(target), transport.connect(target)]);
    await transport.connect(target);
    expect(prompter.secrets).toEqual([
      {
        host: '127.0.0.2',
        user,
        kind: 'passphrase',
        prompt: `Passphrase of the key ${keys[name]}`,
        echo: false,
      },
    ]);
  },
);

test('a wrong passphrase is an error, and is not asked for again', async () => {
  prompter.answers = ['close sesame', 'open sesame'];
  await expect(whoami(targetOf(byKey, { identityFile: keys.encrypted }))).rejects.toMatchObject({
    what: `the passphrase of ${keys.encrypted} is wrong`,
    hint: { kind: 'enterAgain', host: '127.0.0.2' },
  });
  expect(prompter.secrets).toHaveLength(1);
});

test('a passphrase is not asked for when the server does not want the key', async () => {
  const server = await world.serve('127.0.0.4');
  world.know(known(byKey), known(byPassword), known(server));
  await expect(whoami(targetOf(server, { identityFile: keys.encrypted }))).rejects.toMatchObject({
    what: `127.0.0.4 does not let ${user} in (tried: the key ${keys.encrypted}; the server allows: publickey)`,
    hint: { kind: 'chooseKeyFile', host: '127.0.0.4' },
  });
  expect(prompter.secrets).toEqual([]);
});

test('a key that the profile names and that is not there is named', async () => {
  await expect(whoami(targetOf(byKey, { identityFile: '~/missing' }))).rejects.toMatchObject({
    what: `the key file ${join(world.dir, 'missing')} of 127.0.0.2 does not exist`,
    hint: { kind: 'correctKeyFile', host: '127.0.0.2' },
  });
});

test('a configured key that is not there is passed over', async () => {
  world.configure(`Host 127.0.0.2\nIdentityFile ~/missing\nIdentityFile ${world.key}`);
  expect(await whoami(targetOf(byKey))).toBe(user);
  world.configure('');
});

async function agent(socket: string, ...held: string[]): Promise<ChildProcess> {
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  while (!existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const key of held) {
    execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' });
  }
  return child;
}

test('the keys of an agent log in, and one that the profile names goes first', async () => {
  const socket = join(world.dir, 'agent');
  const child = await agent(socket, keys.stranger, keys.rsa, keys.ecdsa);
  try {
    world.configure('IdentityAgent SSH_AUTH_SOCK');
    const env = { PATH: process.env['PATH'], SSH_AUTH_SOCK: socket };
    expect(await whoami(targetOf(byKey), env)).toBe(user);
    const before = readFileSync(byKey.log, 'utf8').length;
    expect(await whoami(targetOf(byKey, { identityFile: keys.ecdsa }), env)).toBe(user);
    const log = readFileSync(byKey.log, 'utf8').slice(before);
    expect(log).toContain('Accepted publickey');
    expect(log).not.toContain('Failed publickey');
    expect(prompter.secrets).toEqual([]);
  } finally {
    world.configure('');
    child.kill();
  }
});

test('a certificate that only the agent holds logs in by the own ssh of this machine', async () => {
  const [authority, member] = [world.makeKey('authority'), world.makeKey('member')];
  execFileSync('ssh-keygen', ['-q', '-s', authority, '-I', 'id', '-n', user, `${member}.pub`]);
  const server = await world.serve('127.0.0.8', {
    authorizedKey: `cert-authority ${readFileSync(`${authority}.pub`, 'utf8')}`,
  });
  const socket = join(world.dir, 'agent-of-certificate');
  const child = await agent(socket, member);
  const env = { PATH: process.env['PATH'], SSH_AUTH_SOCK: socket };
  world.configure(`IdentityAgent ${socket}`);
  const transportOf = (transport: 'auto' | 'ssh2'): LazyTransport =>
    new LazyTransport(
      { transport },
      {
        ...{ prompter, home: world.home, logger: nullLogger, configFile: world.configFile },
        surroundings: { env, home: world.dir },
      },
    );
  const [auto, ssh2] = [transportOf('auto'), transportOf('ssh2')];
  try {
    const target: SshTarget = { host: server.address, port: server.port, user };
    const channel = await (await auto.connect(target, {})).exec('whoami');
    expect((await text(channel.stdout)).trim()).toBe(user);
    expect(readFileSync(server.log, 'utf8')).toContain('Accepted publickey');
    await expect(ssh2.connect(target, {})).rejects.toThrow(
      /does not let .* in \(tried: the key member of the agent/,
    );
    expect(prompter.secrets).toEqual([]);
  } finally {
    auto.dispose();
    ssh2.dispose();
    world.configure('');
    child.kill();
  }
});

test('a password logs in', async () => {
  prompter.answers = [password];
  expect(await whoami(targetOf(byPassword))).toBe(user);
  expect(prompter.secrets.map(({ kind, echo }) => [kind, echo])).toEqual([['password', false]]);
});

test('a wrong password is an error and is tried once', async () => {
  const before = readFileSync(byPassword.log, 'utf8').length;
  prompter.answers = ['wrong', password];
  await expect(whoami(targetOf(byPassword))).rejects.toThrow(
    `127.0.0.3 refused the password of ${user} (tried: password; the server allows: password)`,
  );
  expect(prompter.secrets).toHaveLength(1);
  const log = readFileSync(byPassword.log, 'utf8').slice(before);
  expect(log.match(/Failed password/g)).toHaveLength(1);
});

test('who gives up at the question has cancelled', async () => {
  prompter.answers = [undefined];
  const error = await whoami(targetOf(byPassword)).catch((caught: unknown) => caught);
  expect(isCancelled(error)).toBe(true);
});

test('two factors: a key, then a password', async () => {
  const server = await world.serve('127.0.0.5', {
    authorizedKey: publicKeys(),
    extraConfig: [...passwordOptions, 'AuthenticationMethods publickey,password'],
  });
  setPassword(server, password);
  world.know(known(byKey), known(byPassword), known(server));
  for (const identityFile of [world.key, keys.rsa]) {
    prompter.answers = [password];
    expect(await whoami(targetOf(server, { identityFile }))).toBe(user);
  }
  expect(prompter.secrets.map(({ kind }) => kind)).toEqual(['password', 'password']);
});

test.runIf(canMount)('keyboard-interactive: the server says what to ask', async () => {
  const server = await world.serve('127.0.0.6', {
    authorizedKey: publicKeys(),
    prefix: pamPrefix(world.dir, password),
    extraConfig: [
      'UsePAM yes',
      'PermitRootLogin yes',
      'KbdInteractiveAuthentication yes',
      'AuthenticationMethods publickey,keyboard-interactive',
    ],
  });
  world.know(known(byKey), known(byPassword), known(server));
  const target = targetOf(server, { identityFile: world.key });
  prompter.answers = [password];
  expect(await whoami(target)).toBe(user);
  expect(prompter.secrets).toHaveLength(1);
  expect(prompter.secrets[0]).toMatchObject({ kind: 'keyboard-interactive', echo: false, host: '127.0.0.6' });
  expect(prompter.secrets[0]?.prompt).toContain('Password');
  prompter.answers = ['wrong', password];
  await expect(whoami(target)).rejects.toThrow(/refused the answer of .*keyboard-interactive/);
  expect(prompter.secrets).toHaveLength(2);
});

test('what cannot be reached is said in plain words', async () => {
  const failed = async (target: SshTarget): Promise<UserError> => {
    const error = await whoami(target).catch((caught: unknown) => caught);
    if (!(error instanceof UserError)) throw error;
    return error;
  };
  const refused = await failed({ host: '127.0.0.2', port: 1 });
  expect(errorWords(refused)).toBe(
    '127.0.0.2 (port 1) refused the connection. Check that its SSH server is running, and the port.',
  );
  expect((await failed({ host: 'no-such-host.invalid' })).message).toMatch(
    /^the host name no-such-host\.invalid is not known here/,
  );
  await expect(whoami({ host: '-oProxyCommand=touch' })).rejects.toThrow('is no host');
});
