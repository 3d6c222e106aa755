// The transport over the user's own ssh, against a real sshd: bytes, codes, forwards, questions,
// losses, and what is left behind.
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startSshd } from '../../../scripts/practice/sshd.mjs';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import { UserError } from '../../../src/core/base/errors.js';
import { OpensshTransport } from '../../../src/core/ssh/openssh/opensshTransport.js';
import type { SecretRequest, SshTarget, UnknownHostKey } from '../../../src/core/ssh/base/transport.js';
import { finish, firstMatch } from '../support/channels.js';
import { freePort } from '../support/hosts.js';
import { TcpProxy } from '../support/tcpProxy.js';

const root = mkdtempSync(join(tmpdir(), 'trainyard-openssh-'));
const home = join(root, 'home');
const passphrase = `it's "long" $HOME`;
let sshd: Sshd;
let config: string;
let target: SshTarget;

/** Answers as a person would, and remembers what it was asked. */
class Person {
  secrets: SecretRequest[] = [];
  keys: UnknownHostKey[] = [];
  constructor(
    private readonly answer?: string,
    private readonly trusts = true,
  ) {}

  readonly secret = (request: SecretRequest): Promise<string | undefined> => {
    this.secrets.push(request);
    return Promise.resolve(this.answer);
  };

  readonly trust = (keys: readonly UnknownHostKey[]): Promise<boolean> => {
    this.keys.push(...keys);
    return Promise.resolve(this.trusts);
  };
}

function keyFile(name: string, phrase: string): string {
  const path = join(root, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-a', '4', '-N', phrase, '-f', path]);
  return path;
}

function transportOf(person: Person, known = join(root, 'known_hosts')): OpensshTransport {
  const file = join(root, `config-${randomBytes(4).toString('hex')}`);
  writeFileSync(file, `UserKnownHostsFile ${known}\nGlobalKnownHostsFile /dev/null\n`);
  const env = { ...process.env, SSH_AUTH_SOCK: '' };
  return new OpensshTransport({
    prompter: person,
    configFile: file,
    surroundings: { env, home },
    home: `${known}-own`,
  });
}

/** Processes with the folder of a connection in their command lines. */
const sshProcesses = (): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(join(root, 'trainyard-mux-')) ? [`${pid} ${line}`] : [];
    } catch {
      return []; // it ended
    }
  });
const folders = (): string[] => readdirSync(root).filter((name) => name.startsWith('trainyard-mux-'));

beforeAll(async () => {
  vi.stubEnv('TMPDIR', root); // where connections have their folders: others' must not be seen here
  mkdirSync(home);
  const plain = keyFile('plain', '');
  const locked = keyFile('locked', passphrase);
  const authorizedKey = [plain, locked].map((path) => readFileSync(`${path}.pub`, 'utf8')).join('');
  const port = await freePort('127.0.0.77');
  sshd = await startSshd({
    ...{ address: '127.0.0.77', port, home, stateDir: join(root, 'sshd'), authorizedKey },
    extraConfig: ['MaxSessions 3'],
  });
  config = join(root, 'known_hosts');
  writeFileSync(config, `[127.0.0.77]:${port} ${sshd.hostKey}\n`);
  target = { host: '127.0.0.77', port, identityFile: plain };
});
afterAll(async () => {
  const left = [sshProcesses(), folders()];
  await sshd.stop();
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
  expect(left).toEqual([[], []]);
});

describe('a connection', () => {
  let transport: OpensshTransport;
  beforeEach(() => {
    transport = transportOf(new Person());
  });
  afterEach(async () => {
    transport.dispose();
    await expect.poll(sshProcesses, { timeout: 5000 }).toEqual([]);
    await expect.poll(folders).toEqual([]);
  });

  test('carries every byte both ways', async () => {
    const connection = await transport.connect(target);
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const small = await connection.exec('cat');
    small.stdin.end(every);
    expect((await finish(small)).out).toEqual(every);
    const large = randomBytes(10 * 1024 * 1024);
    const channel = await connection.exec('tee /dev/stderr');
    channel.stdin.end(large);
    const [out, err] = await Promise.all([buffer(channel.stdout), buffer(channel.stderr)]);
    const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    expect([sum(out), sum(err)]).toEqual([sum(large), sum(large)]);
  });

  test('tells codes, keeps stderr to the command, and takes many commands by one login', async () => {
    const connection = await transport.connect(target);
    const logins = (): number => readFileSync(sshd.log, 'utf8').split('Accepted publickey').length;
    const before = logins();
    for (const code of [0, 1, 42, 254]) {
      const done = await finish(await connection.exec(`echo out; echo err >&2; exit ${code}`));
      expect(done).toEqual({ out: Buffer.from('out\n'), err: 'err\n', code });
    }
    // ssh itself makes 255 of every signal
    expect((await finish(await connection.exec('kill -KILL $$'))).code).toBe(255);
    expect(logins()).toBe(before);
  });

  test('says when the node opens no more sessions, and goes on', async () => {
    const connection = await transport.connect(target);
    const open = await Promise.all(['cat', 'cat', 'cat'].map((command) => connection.exec(command)));
    await expect(connection.exec('true')).rejects.toThrow(/cannot be started: .*refused/);
    open[0]?.stdin.end();
    await open[0]?.closed;
    await expect
      .poll(async () => (await finish(await connection.exec('echo on'))).out.toString())
      .toBe('on\n');
  });

  test('forwards TCP, and says why it cannot', async () => {
    const connection = await transport.connect(target);
    const { server, port } = await echo({ host: '127.0.0.77', port: 0 });
    try {
      const stream = await connection.forwardTcp('127.0.0.77', port);
      const sent = randomBytes(300_000);
      stream.end(sent);
      expect((await buffer(stream)).equals(sent)).toBe(true);
    } finally {
      server.close();
    }
    await expect(connection.forwardTcp('127.0.0.77', port)).rejects.toThrow(/cannot be reached from there/);
  });

  test('forwards Unix sockets, whatever stands in their names', async () => {
    const connection = await transport.connect(target);
    const path = join(root, 'a socket:100%\\x');
    const { server } = await echo({ path });
    try {
      for (const round of ['once', 'twice']) {
        const stream = await connection.forwardUnix(path);
        stream.end(round);
        expect(await text(stream)).toBe(round);
      }
    } finally {
      server.close();
    }
  });

  test('has a shell in a terminal that can be resized', async () => {
    const connection = await transport.connect(target);
    const shell = await connection.shell({ columns: 91, rows: 33, term: 'xterm-256color' });
    const seen = firstMatch(shell.stdout, /:(\d+ \d+):(\S+):/);
    shell.stdin.write('echo ":$(stty size):$TERM:"\n');
    expect((await seen).slice(1)).toEqual(['33 91', 'xterm-256color']);
    shell.resize(120, 40);
    const resized = firstMatch(shell.stdout, /=40 120=/);
    shell.stdin.write(
      'until [ "$(stty size)" = "40 120" ]; do sleep 0.05; done; echo "=$(stty size)="; exit 7\n',
    );
    await resized;
    expect((await shell.closed).code).toBe(7);
  });

  test('notices that its ssh was killed, once', async () => {
    const connection = await transport.connect(target);
    const channel = await connection.exec('sleep 600');
    const losses: Error[] = [];
    connection.onClose((error) => losses.push(error));
    const master = sshProcesses().find((line) => line.includes(' -M '));
    process.kill(Number(master?.split(' ')[0]), 'SIGKILL');
    await expect.poll(() => losses.length).toBe(1);
    expect(losses[0]).toBeInstanceOf(UserError);
    expect(connection.isClosed).toBe(true);
    await channel.closed;
    await expect(connection.exec('true')).rejects.toThrow(/lost/);
    connection.dispose();
    expect(losses).toHaveLength(1);
  });

  test('fires nothing when it is disposed of, and ends its channels', async () => {
    const connection = await transport.connect(target);
    const channel = await connection.exec('sleep 600');
    let fired = 0;
    connection.onClose(() => fired++);
    connection.dispose();
    await channel.closed;
    await expect.poll(sshProcesses).toEqual([]);
    expect(fired).toBe(0);
  });

  test('a link that falls silent is noticed within 20 s', async () => {
    const proxy = await TcpProxy.start({ host: '127.0.0.77', port: target.port ?? 0 });
    try {
      writeFileSync(config, `[127.0.0.1]:${proxy.port} ${sshd.hostKey}\n`, { flag: 'a' });
      const connection = await transport.connect({ ...target, host: '127.0.0.1', port: proxy.port });
      const lost = new Promise((resolve) => connection.onClose(resolve));
      const started = Date.now();
      proxy.freeze();
      await lost;
      expect(Date.now() - started).toBeLessThan(20_000);
    } finally {
      await proxy.stop();
    }
  });

  test('gives up when asked to', async () => {
    const proxy = await TcpProxy.start({ host: '127.0.0.77', port: target.port ?? 0 });
    try {
      proxy.freeze();
      const abort = new AbortController();
      const connecting = transport.connect(
        { ...target, host: '127.0.0.1', port: proxy.port },
        { signal: abort.signal },
      );
      await expect.poll(() => proxy.accepted).toBe(1);
      abort.abort();
      await expect(connecting).rejects.toMatchObject({ name: 'Cancelled' });
    } finally {
      await proxy.stop();
    }
  });
});

describe('questions', () => {
  const locked = (): SshTarget => ({ ...target, identityFile: join(root, 'locked') });

  test('a passphrase is asked once for all', async () => {
    const person = new Person(passphrase);
    const transport = transportOf(person);
    try {
      const connections = await Promise.all([1, 2, 3].map(() => transport.connect(locked())));
      for (const connection of connections)
        expect((await finish(await connection.exec('echo in'))).out.toString()).toBe('in\n');
      expect(person.secrets).toHaveLength(1);
      expect(person.secrets[0]).toMatchObject({ kind: 'passphrase', host: '127.0.0.77', echo: false });
      expect(person.secrets[0]?.prompt).toContain(join(root, 'locked'));
    } finally {
      transport.dispose();
    }
  });

  test('a wrong one is said, and asked for anew the next time', async () => {
    const person = new Person('wrong');
    const transport = transportOf(person);
    try {
      await expect(transport.connect(locked())).rejects.toMatchObject({
        hint: { kind: 'checkPassphrase', file: expect.stringMatching(/locked$/) as string },
      });
      expect(person.secrets).toHaveLength(1);
      await expect(transport.connect(locked())).rejects.toThrow(UserError);
      expect(person.secrets).toHaveLength(2);
    } finally {
      transport.dispose();
    }
  });

  test('a user who gives up is not asked again', async () => {
    const person = new Person();
    const transport = transportOf(person);
    try {
      await expect(transport.connect(locked())).rejects.toMatchObject({ name: 'Cancelled' });
      expect(person.secrets).toHaveLength(1);
    } finally {
      transport.dispose();
    }
  });

  test('an unknown host key is shown with its fingerprint, and counts only when it is accepted', async () => {
    const known = join(root, 'known_fresh');
    const shown = { host: '127.0.0.77', port: target.port, fingerprint: sshd.hostKeyFingerprint };
    const connectAs = async (person: Person): Promise<void> => {
      const transport = transportOf(person, known);
      try {
        await transport.connect(target);
      } finally {
        transport.dispose();
      }
    };
    const wary = new Person(undefined, false);
    await expect(connectAs(wary)).rejects.toThrow(/was not accepted/);
    expect(wary.keys).toMatchObject([shown]);
    const trusting = new Person();
    await connectAs(trusting);
    expect(trusting.keys).toMatchObject([shown]);
    const knowing = new Person(undefined, false);
    await connectAs(knowing);
    expect(knowing.keys).toEqual([]);
  });

  test('a changed host key is refused without a question', async () => {
    const known = join(root, 'known_changed');
    const other = readFileSync(`${keyFile('other', '')}.pub`, 'utf8');
    writeFileSync(known, `[127.0.0.77]:${target.port ?? 0} ${other}`);
    const person = new Person(passphrase);
    const transport = transportOf(person, known);
    await expect(transport.connect(locked())).rejects.toThrow(
      new RegExp(`has changed: ssh refuses it .*${sshd.hostKeyFingerprint.replace(/[+/]/g, '\\$&')}`),
    );
    expect([person.keys, person.secrets]).toEqual([[], []]);
    transport.dispose();
  });
});

test.each([
  { host: '-oProxyCommand=touch x' },
  { host: 'a;touch x' },
  { host: 'a', user: '$(touch x)' },
  { host: 'a', user: '-x' },
  { host: 'a', proxyJump: '-oProxyCommand=x' },
  { host: 'a', proxyJump: 'b,`touch x`' },
])('no process is started for %j', async (hostile) => {
  const transport = transportOf(new Person());
  await expect(transport.connect(hostile)).rejects.toMatchObject({ code: 'usage' });
  transport.dispose();
});

test('nothing outlives a client that was killed', async () => {
  const bundle = join(root, 'client.cjs');
  await build({
    stdin: {
      contents: `
        const { OpensshTransport } = require('./src/core/ssh/openssh/opensshTransport.ts');
        const { target, configFile, home } = JSON.parse(process.argv[2]);
        const prompter = { secret: async () => undefined, trust: async () => false };
        new OpensshTransport({ prompter, configFile, home })
          .connect(target)
          .then((connection) => connection.exec('sleep 600'))
          .then(() => console.log('ready'));
      `,
      resolveDir: join(import.meta.dirname, '../../..'),
    },
    ...{ bundle: true, platform: 'node', format: 'cjs', outfile: bundle, logLevel: 'error' },
  });
  const configFile = join(root, 'client-config');
  writeFileSync(configFile, `UserKnownHostsFile ${config}\n`);
  const client = spawn(process.execPath, [bundle, JSON.stringify({ target, configFile, home: root })]);
  await firstMatch(client.stdout, /ready/);
  expect(sshProcesses().length).toBeGreaterThan(1);
  client.kill('SIGKILL');
  await expect.poll(sshProcesses, { timeout: 5000 }).toEqual([]);
  await expect.poll(folders).toEqual([]);
});

/** A server that sends back what it gets. */
async function echo(
  where: { host: string; port: number } | { path: string },
): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await new Promise<void>((done) => server.listen(where, done));
  const address = server.address();
  return { server, port: typeof address === 'object' && address ? address.port : 0 };
}
