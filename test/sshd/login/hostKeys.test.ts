// The verdict on a host's key comes before anything is sent that a stranger must not see.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import type { SshTarget } from '../../../src/core/ssh/base/transport.js';
import { known, ScriptedPrompter, World } from '../support/hosts.js';

const world = new World();
const other = readFileSync(`${world.makeKey('other')}.pub`, 'utf8')
  .split(' ')
  .slice(0, 2)
  .join(' ');
const servers: Sshd[] = [];
let server: Sshd;
let target: SshTarget;
let prompter: ScriptedPrompter;

const place = (one: Sshd): string => `[${one.address}]:${one.port}`;
const targetOf = (one: Sshd): SshTarget => ({
  host: one.address,
  port: one.port,
  identityFile: world.key,
});
/** What sshd says of each login, and of each who went away without one. */
const attempts = (one: Sshd): string[] =>
  readFileSync(one.log, 'utf8')
    .split('\n')
    .filter((line) => /Accepted|Failed|Postponed|userauth|authenticating user|invalid user/i.test(line));

async function connects(one: SshTarget): Promise<void> {
  const transport = world.transport(prompter);
  try {
    await transport.connect(one);
  } finally {
    transport.dispose();
  }
}

beforeAll(async () => {
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) {
    servers.push(await world.serve(address, { extraConfig: ['LogLevel DEBUG1'] }));
  }
  server = servers[0]!;
  target = targetOf(server);
});
beforeEach(() => {
  prompter = new ScriptedPrompter();
});
afterAll(() => world.remove());

test('a changed key is refused: both fingerprints, the file and the line are named, and no login was tried', async () => {
  world.know('# a comment', `${place(server)} ${other}`);
  const before = attempts(server).length;
  const expected = execFileSync('ssh-keygen', ['-lf', join(world.dir, 'other.pub')], { encoding: 'utf8' });
  const error = await connects(target).catch((caught: unknown) => caught);
  const { message } = error as Error;
  expect(message).toContain('the host key of 127.0.0.2 has changed');
  expect(message).toContain(server.hostKeyFingerprint);
  expect(message).toContain(expected.split(' ')[1]);
  expect(message).toContain(`${join(world.dir, 'known_hosts')}:2`);
  expect(prompter.questions).toEqual([]);
  expect(attempts(server).slice(before)).toEqual([]);
});

test('a key that is being rotated is known by its new one, while the old one stands beside it', async () => {
  world.know(`${place(server)} ${other}`, known(server));
  await connects(target);
  expect(prompter.questions).toEqual([]);
});

test('a revoked key is refused, also when it is known', async () => {
  world.know(known(server), `@revoked * ${server.hostKey}`);
  const before = attempts(server).length;
  await expect(connects(target)).rejects.toThrow(/marked as revoked \(.*known_hosts:2\)/);
  expect(attempts(server).slice(before)).toEqual([]);
});

test('the key of an authority is none of the host, and only ssh can check what it signed', async () => {
  world.know(`@cert-authority * ${server.hostKey}`);
  const before = attempts(server).length;
  await expect(connects(target)).rejects.toThrow('names an authority for its host key');
  expect(prompter.questions).toEqual([]);
  expect(attempts(server).slice(before)).toEqual([]);
});

test('an unknown key that the user does not trust is refused', async () => {
  world.know();
  prompter.trusts = false;
  const before = attempts(server).length;
  await expect(connects(target)).rejects.toThrow(/the host key of 127\.0\.0\.2, SHA256:.* was not accepted/);
  expect(prompter.questions).toHaveLength(1);
  expect(attempts(server).slice(before)).toEqual([]);
});

test('a hashed name and a HostKeyAlias are found', async () => {
  world.know(known(server));
  execFileSync('ssh-keygen', ['-q', '-H', '-f', join(world.dir, 'known_hosts')], { stdio: 'ignore' });
  expect(readFileSync(join(world.dir, 'known_hosts'), 'utf8')).toMatch(/^\|1\|/);
  await connects(target);
  world.know(`the-alias ${server.hostKey}`);
  world.configure('HostKeyAlias the-alias');
  await connects(target);
  world.configure('');
  expect(prompter.questions).toEqual([]);
});

test('all unknown keys of a cluster are put in one question', async () => {
  world.know();
  const transport = world.transport(prompter);
  await Promise.all(servers.map((one) => transport.connect(targetOf(one))));
  const [question, ...more] = prompter.questions;
  expect(more).toEqual([]);
  expect(question?.map(({ fingerprint }) => fingerprint).sort()).toEqual(
    servers.map(({ hostKeyFingerprint }) => hostKeyFingerprint).sort(),
  );
});
