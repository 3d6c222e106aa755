// What a person answers to a question stays between the question and the server: it stands in no
// command line, no environment, no log and no file, while either transport logs in and afterwards.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { OpensshTransport } from '../../../src/core/ssh/openssh/opensshTransport.js';
import { Ssh2Transport } from '../../../src/core/ssh/ssh2/ssh2Transport.js';
import type { SshTarget, SshTransport } from '../../../src/core/ssh/base/transport.js';
import { known, ScriptedPrompter, text, World } from '../support/hosts.js';
import { MemoryLogger } from '../support/memoryLogger.js';
import { pamPrefix, passwordOptions, setPassword } from '../support/passwords.js';

const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;
const canary = (name: string): string => `${name}-${randomBytes(9).toString('hex')}`;
const secrets = { password: canary('pw'), passphrase: canary('pp'), 'keyboard-interactive': canary('code') };

/** Looks at every process over and over, for command lines and environments that hold a secret. */
class ProcessWatch {
  private found = '';
  private readonly child: ChildProcess;

  constructor(list: string) {
    const files = '/proc/[0-9]*/cmdline /proc/[0-9]*/environ';
    const loop = `while echo .; do for f in $(grep -laFs -f "$0" ${files}); do echo "$f: $(tr '\\0' ' ' <"$f" | head -c 300)"; done; done`;
    this.child = spawn('sh', ['-c', loop, list], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.child.stdout?.setEncoding('utf8').on('data', (data: string) => (this.found += data));
  }

  /** After two more whole looks. */
  async end(): Promise<string[]> {
    const looks = (): number => this.found.split('\n').filter((line) => line === '.').length;
    const before = looks();
    await expect.poll(looks, { timeout: 20_000 }).toBeGreaterThan(before + 2);
    this.child.kill();
    return [...new Set(this.found.split('\n'))].filter((line) => line !== '' && line !== '.');
  }
}

const world = new World();
const lists = mkdtempSync(join(tmpdir(), 'trainyard-canaries-'));
const list = join(lists, 'list');
const temporary = join(world.dir, 't');
const targets = new Map<string, SshTarget>();

/** Files below these folders that hold a secret. */
const filesWith = (...folders: string[]): string[] =>
  spawnSync('grep', ['-rlaFs', '-D', 'skip', '-f', list, ...folders], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '');

beforeAll(async () => {
  writeFileSync(list, `${Object.values(secrets).join('\n')}\n`, { mode: 0o600 });
  mkdirSync(temporary, { mode: 0o700 });
  const locked = world.makeKey('locked', { passphrase: secrets.passphrase });
  const authorizedKey = [world.key, locked].map((path) => readFileSync(`${path}.pub`, 'utf8')).join('');
  const byPassword = await world.serve('127.0.0.3', {
    extraConfig: [...passwordOptions, 'AuthenticationMethods any', 'PubkeyAuthentication no'],
  });
  setPassword(byPassword, secrets.password);
  const byKey = await world.serve('127.0.0.2', { authorizedKey });
  targets.set('password', { host: byPassword.address, port: byPassword.port });
  targets.set('passphrase', { host: byKey.address, port: byKey.port, identityFile: locked });
  const servers = [byPassword, byKey];
  if (canMount) {
    const byCode = await world.serve('127.0.0.6', {
      authorizedKey,
      prefix: pamPrefix(world.dir, secrets['keyboard-interactive']),
      extraConfig: [
        'UsePAM yes',
        'PermitRootLogin yes',
        'KbdInteractiveAuthentication yes',
        'AuthenticationMethods publickey,keyboard-interactive',
      ],
    });
    servers.push(byCode);
    const { address: host, port } = byCode;
    targets.set('keyboard-interactive', { host, port, identityFile: world.key });
  }
  world.know();
  const accepting = world.transport(new ScriptedPrompter()); // its key is kept, so that there is a home to look at
  await accepting.connect({ host: byKey.address, port: byKey.port, identityFile: world.key });
  accepting.dispose();
  world.know(...servers.map(known));
});
beforeEach(() => {
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await world.remove();
  rmSync(lists, { recursive: true });
});

const makers = {
  ssh2: (prompter: ScriptedPrompter, logger: MemoryLogger): SshTransport => {
    const { home, configFile } = world;
    const surroundings = { env: { PATH: process.env['PATH'] }, home: world.dir };
    return new Ssh2Transport({ prompter, home, configFile, surroundings, logger });
  },
  openssh: (prompter: ScriptedPrompter, logger: MemoryLogger): SshTransport => {
    const env = { ...process.env, SSH_AUTH_SOCK: '' };
    const surroundings = { env, home: world.dir };
    const { home, configFile } = world;
    return new OpensshTransport({ prompter, home, configFile, surroundings, logger });
  },
};

describe.each(['ssh2', 'openssh'] as const)('%s', (name) => {
  test.each(['password', 'passphrase', 'keyboard-interactive'] as const)(
    'a %s is seen nowhere',
    async (kind) => {
      const target = targets.get(kind);
      if (!target) {
        process.stdout.write(`not looked at: ${kind} needs the right to mount\n`);
        return;
      }
      const prompter = new ScriptedPrompter();
      prompter.answers = [secrets[kind]];
      const logger = new MemoryLogger();
      const transport = makers[name](prompter, logger);
      const watch = new ProcessWatch(list);
      try {
        const connection = await transport.connect(target, {});
        const channel = await connection.exec('env; echo in');
        expect(await text(channel.stdout)).toMatch(/^in$/m);
        expect(prompter.secrets.map((request) => request.kind)).toEqual([kind]);
        expect(filesWith(world.home, temporary)).toEqual([]);
        expect(await watch.end()).toEqual([]);
      } finally {
        transport.dispose();
      }
      expect(filesWith(world.home, temporary)).toEqual([]);
      expect(JSON.stringify(logger.lines)).not.toContain(secrets[kind]);
    },
  );

  test('a wrong password is not in the error either', async () => {
    const wrong = secrets.passphrase; // a secret of something else, as people mistake them
    const prompter = new ScriptedPrompter();
    prompter.answers = [wrong];
    const logger = new MemoryLogger();
    const transport = makers[name](prompter, logger);
    const target = targets.get('password');
    if (!target) throw new Error('no server');
    const watch = new ProcessWatch(list);
    const error: unknown = await transport.connect(target, {}).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Error);
    expect(
      `${String(error)} ${(error as Error).stack ?? ''} ${String((error as Error).cause)}`,
    ).not.toContain(wrong);
    expect(await watch.end()).toEqual([]);
    transport.dispose();
    expect(filesWith(world.home, temporary)).toEqual([]);
    expect(JSON.stringify(logger.lines)).not.toContain(wrong);
  });
});

test('a secret in a command line, an environment or a file is found by these means', async () => {
  const shown = [
    spawn('sh', ['-c', 'sleep 50; true', secrets.password]),
    spawn('sleep', ['50'], { env: { HIDDEN: secrets.passphrase, PATH: process.env['PATH'] } }),
  ];
  const watch = new ProcessWatch(list);
  const found = (await watch.end()).join('\n');
  for (const child of shown) child.kill();
  expect(found).toContain(`cmdline: sh -c sleep 50; true ${secrets.password}`);
  expect(found).toMatch(new RegExp(`environ: .*HIDDEN=${secrets.passphrase}`));
  const file = join(temporary, 'left');
  writeFileSync(file, secrets.password);
  expect(filesWith(temporary)).toEqual([file]);
  rmSync(file);
});

test('what is kept on this machine is its user’s alone, and nothing temporary is left', () => {
  for (const path of [world.home, ...readdirSync(world.home).map((file) => join(world.home, file))])
    expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
  expect(readdirSync(temporary)).toEqual([]);
});
