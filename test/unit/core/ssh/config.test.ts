// The user's SSH configuration: as ssh itself reads it, and as it is read where there is no ssh.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { needsOpenSsh, sshConfig, type SshConfig } from '../../../../src/core/ssh/config/config.js';
import { readSettings } from '../../../../src/core/ssh/config/configSource.js';
import { lastHop, parseJump } from '../../../../src/core/ssh/base/jumps.js';
import type { SshTarget } from '../../../../src/core/ssh/base/transport.js';

const home = mkdtempSync(join(tmpdir(), 'trainyard-config-'));
const configFile = join(home, 'config');
const witness = join(home, 'witness');
afterAll(() => {
  rmSync(home, { recursive: true });
});

writeFileSync(
  configFile,
  `Host gpu*
  HostName %h.example.org
  Port 2222
  User trainer
  IdentityFile ~/keys/%r-at-%h
  IdentityFile ~/keys/second
  ProxyJump admin@jump:2200,inner
  UserKnownHostsFile ${home}/known_a ${home}/known_b
  GlobalKnownHostsFile none
  HostKeyAlias cluster
  IdentityAgent ${home}/agent.sock
  IdentitiesOnly yes
Host proxied
  ProxyCommand nc %h %p
Host kerberos
  PubkeyAuthentication no
  PasswordAuthentication no
  KbdInteractiveAuthentication no
  GSSAPIAuthentication yes
Host quantum
  KexAlgorithms sntrup761x25519-sha512@openssh.com
Host revoking
  RevokedHostKeys ${home}/revoked
Host printing
  KnownHostsCommand /bin/echo %H
Host strict
  StrictHostKeyChecking yes
Match user special
  Port 7
`,
);

const around = { env: { PATH: process.env['PATH'], SSH_AUTH_SOCK: '/the/agent' }, home };

async function read(target: SshTarget, ssh?: string): Promise<SshConfig> {
  const settings = await readSettings(target, { around, configFile, ...(ssh === undefined ? {} : { ssh }) });
  return sshConfig(target, settings, around);
}

describe.each([
  ['as ssh reads it', undefined],
  ['without ssh', 'no-such-program'],
])('%s', (_name, ssh) => {
  it('says how a host is reached', async () => {
    expect(await read({ host: 'gpu1' }, ssh)).toMatchObject({
      host: 'gpu1',
      hostName: 'gpu1.example.org',
      port: 2222,
      user: 'trainer',
      identityFiles: [join(home, 'keys/trainer-at-gpu1.example.org'), join(home, 'keys/second')],
      ownIdentity: false,
      identitiesOnly: true,
      agents: [join(home, 'agent.sock')],
      proxyJump: 'admin@jump:2200,inner',
      knownHosts: [join(home, 'known_a'), join(home, 'known_b')],
      hostKeyAlias: 'cluster',
    });
  });

  it('lets the profile win', async () => {
    const target = { host: 'gpu1', port: 99, user: 'me', identityFile: '~/own', proxyJump: 'other' };
    expect(await read(target, ssh)).toMatchObject({
      port: 99,
      user: 'me',
      identityFiles: [join(home, 'own')],
      ownIdentity: true,
      identitiesOnly: true,
      proxyJump: 'other',
    });
  });

  it('knows what it knows of a host that stands nowhere', async () => {
    const config = await read({ host: 'elsewhere' }, ssh);
    expect(config).toMatchObject({
      hostName: 'elsewhere',
      port: 22,
      user: userInfo().username,
      agents: ['/the/agent'],
      proxyJump: undefined,
      identitiesOnly: false,
    });
    expect(config.identityFiles).toContain(join(home, '.ssh/id_ed25519'));
    expect(needsOpenSsh(config)).toBeUndefined();
  });

  it('takes a user from before an @, and a Match that asks for it', async () => {
    expect(await read({ host: 'someone@elsewhere' }, ssh)).toMatchObject({
      user: 'someone',
      hostName: 'elsewhere',
    });
    expect(await read({ host: 'elsewhere', user: 'special' }, ssh)).toMatchObject({ port: 7 });
  });

  it.each([
    ['proxied', 'ProxyCommand'],
    ['kerberos', 'GSSAPI'],
    ['quantum', 'key exchange'],
    ['revoking', 'RevokedHostKeys'],
    ['printing', 'KnownHostsCommand'],
  ])('says that %s needs ssh itself', async (host, word) => {
    expect(needsOpenSsh(await read({ host }, ssh))).toContain(word);
  });

  it('knows where unknown host keys are to be refused', async () => {
    expect((await read({ host: 'strict' }, ssh)).strictHostKeys).toBe(true);
    expect((await read({ host: 'elsewhere' }, ssh)).strictHostKeys).toBe(false);
  });

  it('takes no ProxyCommand where the profile names a jump host', async () => {
    expect(needsOpenSsh(await read({ host: 'proxied', proxyJump: 'jump' }, ssh))).toBeUndefined();
  });

  it.each(['-oProxyCommand=touch', '', 'two words', 'new\nline'])('refuses %j as a host', async (host) => {
    await expect(read({ host }, ssh)).rejects.toThrow('is no host');
  });
});

it('takes a file with a blank in its name for one', () => {
  const blank = join(home, 'known hosts');
  writeFileSync(blank, '');
  const settings = new Map([
    ['userknownhostsfile', [`${blank} /nowhere/a`]],
    ['globalknownhostsfile', ['/nowhere/b']],
  ]);
  const { userKnownHosts, knownHosts } = sshConfig({ host: 'gpu1' }, settings, around);
  expect(userKnownHosts).toEqual([blank, '/nowhere/a']);
  expect(knownHosts).toEqual([blank, '/nowhere/a', '/nowhere/b']);
});

it('runs no command of a Match where it reads the file itself', async () => {
  const file = join(home, 'exec');
  writeFileSync(file, `Match exec "touch ${witness}"\n  Port 7\n`);
  const settings = await readSettings({ host: 'gpu1' }, { around, configFile: file, ssh: 'no-such-program' });
  expect(settings.get('port')).toBeUndefined();
  expect(() => {
    rmSync(witness);
  }).toThrow('ENOENT');
});

it('says what ssh says of a configuration that it does not understand', async () => {
  const file = join(home, 'broken');
  writeFileSync(file, 'NoSuchKeyword yes\n');
  await expect(readSettings({ host: 'gpu1' }, { around, configFile: file })).rejects.toThrow(
    /ssh does not understand its configuration for gpu1: .*nosuchkeyword/i,
  );
});

it('sees that a certificate or a security key is used', async () => {
  const key = join(home, 'certified');
  writeFileSync(key, '');
  expect(needsOpenSsh(await read({ host: 'a', identityFile: key }))).toBeUndefined();
  writeFileSync(`${key}-cert.pub`, '');
  expect(needsOpenSsh(await read({ host: 'a', identityFile: key }))).toContain('certified-cert.pub');
  const token = join(home, 'id_ed25519_sk');
  writeFileSync(token, '');
  expect(needsOpenSsh(await read({ host: 'a', identityFile: token }))).toContain('security key');
});

describe('jump hosts', () => {
  it.each([
    ['jump', { host: 'jump' }],
    ['me@jump', { host: 'jump', user: 'me' }],
    ['me@jump:2222', { host: 'jump', user: 'me', port: 2222 }],
    ['[fe80::1]:22', { host: 'fe80::1', port: 22 }],
    ['me@fe80::1', { host: 'fe80::1', user: 'me' }],
    ['ssh://me@jump:2222/', { host: 'jump', user: 'me', port: 2222 }],
  ])('%s', (text, expected) => {
    expect(parseJump(text)).toEqual(expected);
  });

  it.each(['', '-oProxyCommand=x', 'a b', 'jump:0', 'jump:70000', 'me@', '-l@jump'])('refuses %j', (text) => {
    expect(parseJump(text)).toBeUndefined();
    expect(() => lastHop(text, 'gpu1')).toThrow('cannot be understood');
  });

  it('are gone through in order', () => {
    expect(lastHop('a,b:7,me@c', 'gpu1')).toEqual({ host: 'c', user: 'me', proxyJump: 'a,b:7' });
    expect(lastHop('a', 'gpu1')).toEqual({ host: 'a' });
  });
});
