// The command line at a question, in a real terminal: what ends it there, and what a server can
// make of its question.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as nodePty from 'node-pty';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli } from '../../support/harness.js';
import { known, World } from '../support/hosts.js';
import { passwordOptions, setPassword } from '../support/passwords.js';

const { spawn } = createRequire(import.meta.url)('node-pty') as Pick<typeof nodePty, 'spawn'>;
const world = new World();

class Terminal {
  shown = '';
  readonly ended: Promise<{ exitCode: number; signal?: number }>;
  private readonly pty: nodePty.IPty;

  constructor(profile: string) {
    const env = { ...process.env, TRAINYARD_HOME: world.home, SSH_AUTH_SOCK: '' };
    const words = [cli, 'trust', profile];
    this.pty = spawn(process.execPath, words, { cols: 100, rows: 30, env });
    this.pty.onData((text) => (this.shown += text));
    this.ended = new Promise((resolve) => {
      this.pty.onExit(resolve);
    });
  }

  async asked(pattern: RegExp): Promise<this> {
    await expect.poll(() => this.shown, { timeout: 40_000 }).toMatch(pattern);
    return this;
  }

  kill(signal: NodeJS.Signals): void {
    process.kill(this.pty.pid, signal);
  }

  write(text: string): void {
    this.pty.write(text);
  }

  /** As when its window is closed. */
  hangUp(): void {
    (this.pty as nodePty.IPty & { destroy(): void }).destroy();
  }
}

beforeAll(async () => {
  const server = await world.serve('127.0.0.3', {
    extraConfig: [...passwordOptions, 'AuthenticationMethods any', 'PubkeyAuthentication no'],
  });
  setPassword(server, 'secret');
  mkdirSync(world.home, { recursive: true, mode: 0o700 });
  writeFileSync(join(world.home, 'known_hosts'), `${known(server)}\n`);
  const hosts = [{ host: server.address, port: server.port, identityFile: world.key }];
  const profiles = (['ssh2', 'openssh'] as const).map((transport) => ({
    ...{ name: transport, kind: 'ssh', transport, hosts },
  }));
  writeFileSync(join(world.home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
});
afterAll(() => world.remove());

describe.each(['ssh2', 'openssh'])('at the question for a password (%s)', (profile) => {
  test.each(['SIGTERM', 'SIGHUP'] as const)('%s ends it', async (signal) => {
    const terminal = await new Terminal(profile).asked(/[Pp]assword.*: $/);
    terminal.kill(signal);
    expect(await terminal.ended).toMatchObject({ exitCode: 130 });
    expect(terminal.shown).toMatch(/trainyard: cancelled/);
  });

  test('a window that is closed ends it', async () => {
    const terminal = await new Terminal(profile).asked(/[Pp]assword.*: $/);
    terminal.hangUp();
    expect(await terminal.ended).toMatchObject({ signal: 1 }); // SIGHUP, no crash
  });
});
