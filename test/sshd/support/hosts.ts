// What the tests of the SSH transport share: servers with keys, and a transport that knows nothing
// of this machine's user.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSshd } from '../../../scripts/practice/sshd.mjs';
import type { Sshd, SshdOptions } from '../../../scripts/practice/sshd.mjs';
import { Ssh2Transport } from '../../../src/core/ssh/ssh2/ssh2Transport.js';
import type { Prompter, SecretRequest, UnknownHostKey } from '../../../src/core/ssh/base/transport.js';

/** Answers from a script, and keeps what was asked. */
export class ScriptedPrompter implements Prompter {
  readonly secrets: SecretRequest[] = [];
  readonly questions: (readonly UnknownHostKey[])[] = [];
  answers: (string | undefined)[] = [];
  trusts = true;

  secret(request: SecretRequest): Promise<string | undefined> {
    this.secrets.push(request);
    return Promise.resolve(this.answers.shift());
  }

  trust(unknown: readonly UnknownHostKey[]): Promise<boolean> {
    this.questions.push(unknown);
    return Promise.resolve(this.trusts);
  }
}

export async function freePort(address = '127.0.0.1'): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A folder with keys, servers and a configuration of its own; `remove()` ends and removes all. */
export class World {
  readonly dir = mkdtempSync(join(tmpdir(), 'trainyard-ssh-'));
  readonly home = join(this.dir, 'trainyard');
  readonly configFile = join(this.dir, 'ssh_config');
  private readonly servers: Sshd[] = [];
  private readonly transports: Ssh2Transport[] = [];
  readonly key = this.makeKey('key');

  constructor() {
    this.configure('');
  }

  makeKey(name: string, { type = 'ed25519', passphrase = '', words = [] as string[] } = {}): string {
    const path = join(this.dir, name);
    execFileSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-C', name, '-f', path, ...words]);
    return path;
  }

  /** The user's ssh configuration, before what keeps this machine's own out of it. */
  configure(text: string): void {
    const own = [
      'Host *',
      'IdentityFile none',
      'IdentityAgent none',
      `UserKnownHostsFile ${join(this.dir, 'known_hosts')}`,
    ];
    writeFileSync(this.configFile, [text, ...own, 'GlobalKnownHostsFile none', ''].join('\n'));
  }

  async serve(address: string, more: Partial<SshdOptions> = {}): Promise<Sshd> {
    const port = more.port ?? (await freePort(address));
    const stateDir = join(this.dir, `${address}-${port}`);
    const home = join(stateDir, 'home');
    mkdirSync(home, { recursive: true });
    const authorizedKey = readFileSync(`${this.key}.pub`, 'utf8');
    const server = await startSshd({ address, port, home, stateDir, authorizedKey, ...more });
    this.servers.push(server);
    return server;
  }

  transport(prompter: Prompter, env: NodeJS.ProcessEnv = { PATH: process.env['PATH'] }): Ssh2Transport {
    const { home, configFile } = this;
    const transport = new Ssh2Transport({
      prompter,
      home,
      configFile,
      surroundings: { env, home: this.dir },
    });
    this.transports.push(transport);
    return transport;
  }

  /** Writes the user's known_hosts. */
  know(...lines: string[]): void {
    writeFileSync(join(this.dir, 'known_hosts'), lines.map((line) => `${line}\n`).join(''));
  }

  async remove(): Promise<void> {
    for (const transport of this.transports) transport.dispose();
    await Promise.all(this.servers.map((server) => server.stop()));
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A line of known_hosts for a server. */
export function known(server: Sshd): string {
  const [type, key] = server.hostKey.split(' ');
  return `[${server.address}]:${server.port} ${type ?? ''} ${key ?? ''}`;
}

export async function text(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const part of stream) chunks.push(part as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
