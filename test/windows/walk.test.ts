// The README's walk over a cluster, by the command line on Windows' Node under Wine: two nodes of
// real sshd on this machine, unknown keys at first, profiles and folders where Windows has them.
// Wine has no ssh.exe and no tar.exe, so nothing but Node is used on the client's side.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findWindowsNode } from '../../scripts/test/windowsNode.mjs';
import { practiceHosts, type FaultHosts } from '../cluster/support/hosts.js';
import { temporaryFolder, until } from '../support/harness.js';
import { asWindows, Windows, type WindowsOutcome, type WindowsProgram } from './support/wine.js';

const root = join(import.meta.dirname, '../..');
const found = findWindowsNode();
const why = 'wine' in found ? '' : ` (skipped: ${found.reason})`;

describe.skipIf(!('wine' in found))(`the command line on Windows${why}`, () => {
  let folder: { path: string; remove: () => void };
  let hosts: FaultHosts;
  let windows: Windows;
  let server: Server;

  beforeAll(async () => {
    if (!('wine' in found)) return;
    folder = temporaryFolder('windows');
    hosts = await practiceHosts({ nodes: 2 });
    windows = new Windows(found, join(root, 'dist', 'trainyard.cjs'));
    const settings = windows.userFolder('AppData', 'Roaming', 'trainyard');
    mkdirSync(settings, { recursive: true });
    const listed = (hosts.profile.hosts ?? []).map(({ identityFile = '', ...host }) => ({
      ...host,
      identityFile: asWindows(identityFile),
    }));
    const [{ host, port, user, identityFile } = { host: '' }] = listed;
    const named = (name: string): object => ({ ...hosts.profile, name, hosts: [{ host: name, slots: 1 }] });
    const profiles = {
      version: 1,
      profiles: [{ ...hosts.profile, name: 'lab', hosts: listed }, named('first'), named('behind')],
    };
    mkdirSync(windows.userFolder('.ssh'));
    const config = [
      ...['Host first', `  HostName ${host}`, `  Port ${port}`, `  User ${user}`],
      ...[`  IdentityFile ${identityFile}`, 'Host behind', '  ProxyCommand nc %h %p', ''],
    ];
    writeFileSync(windows.userFolder('.ssh', 'config'), config.join('\r\n'));
    const lines = JSON.stringify(profiles, undefined, 2).replaceAll('\n', '\r\n');
    writeFileSync(join(settings, 'profiles.json'), lines);
    server = createServer((_request, response) => {
      response.end('from the node');
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.2', ready));
  });
  afterAll(async () => {
    server.close();
    await windows.dispose();
    await hosts.stop();
    folder.remove();
  });

  const trainyard = (...words: string[]): Promise<WindowsOutcome> => windows.run(words, folder.path);
  const begin = (...words: string[]): WindowsProgram => windows.start(words, folder.path);
  const good = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await trainyard(...words);
    expect(stderr).not.toMatch(/error/);
    expect({ words, code, stdout: code === 0 ? '' : stdout + stderr }).toEqual({
      words,
      code: 0,
      stdout: '',
    });
    return stdout;
  };
  const training = (...more: string[]): string[] => [
    ...['--', 'train', '--model', 'mlp', '--threads', '1', '--batch-size', '4', ...more],
  ];

  it('says that the keys are unknown, trusts them, and checks the nodes', async () => {
    const before = await trainyard('check', 'lab');
    expect(before.code).toBe(3);
    expect(before.stderr).toMatch(/unknown host key.*127\.0\.0\.2/);
    await good('trust', 'lab', '--yes');
    expect(await good('check', 'lab')).toMatch(/^trainer +ok.* ok/m);
  });

  it('copies a folder of Windows to the nodes', async () => {
    const source = join(folder.path, 'my images', 'deep');
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, 'a.txt'), 'a\r\n');
    writeFileSync(join(folder.path, 'my images', 'b.bin'), Buffer.alloc(300_000, 5));
    expect(await good('copy', 'lab', asWindows(join(folder.path, 'my images')), '~/images')).toMatch(
      /^2 files to ~\/images on 127\.0\.0\.2, 127\.0\.0\.3/,
    );
    const shown = await good('exec', 'lab', '--', 'wc', '-c', 'images/deep/a.txt', 'images/b.bin');
    expect(shown).toContain('127.0.0.3 |      3 images/deep/a.txt');
    expect(shown).toContain('127.0.0.2 | 300000 images/b.bin');
  });

  it('runs a command to its end, and shows its log', async () => {
    expect(await good('run', 'lab', '--', 'echo', 'said', 'there')).toMatch(/said there/);
    expect(await good('logs', 'last')).toMatch(/rank-0 \| said there/);
    const [line = ''] = (await good('runs', 'lab', '--json')).split('\n');
    const { dir } = JSON.parse(line) as { dir: string };
    expect(dir.startsWith('/')).toBe(true);
    expect(await good('logs', `${dir}/`, '--profile', 'lab')).toMatch(/said there/);
  });

  it("reads its user's SSH configuration, and says what the ssh of Windows cannot do", async () => {
    expect(await good('import', '--ssh-config')).toMatch(/first\s+behind/);
    expect(await good('exec', 'first', '--', 'echo', 'reached')).toContain('first | reached');
    const behind = await trainyard('exec', 'behind', '--', 'true');
    expect(behind.code).not.toBe(0);
    expect(behind.stderr).toMatch(
      /behind needs your own ssh: .*ProxyCommand.*The ssh of Windows cannot share/,
    );
  });

  it('brings a port of a node here', async () => {
    const { port } = server.address() as AddressInfo;
    const tunnel = begin('tunnel', 'lab', `26006:127.0.0.2:${port}`, '--json');
    const opened = await until('the tunnel', () => /"port":(\d+)/.exec(tunnel.stdout)?.[1], 90).catch(() => {
      throw new Error(`no tunnel: ${tunnel.stderr}`);
    });
    const answer = await fetch(`http://127.0.0.1:${opened}/`);
    expect(await answer.text()).toBe('from the node');
    await tunnel.kill();
  });

  it('leaves a training, attaches to it, stops and deletes it', async () => {
    const words = training('--data', 'synthetic', '--steps', '100000000', '--log-every', '20');
    const started = await good('run', 'lab', '--detach', '--json', ...words);
    const { id } = JSON.parse(started.split('\n')[0] ?? '') as { id: string };
    const attached = begin('attach', id, '--json');
    await until('a step', () => attached.stdout.includes('"kind":"step"'), 90);
    await good('stop', id);
    expect((await attached.outcome()).code).toBe(75);
    expect(await good('checkpoints', id, '--verify')).toContain('verified');
    await good('delete', id, '--yes');
    expect(await good('runs', 'lab')).not.toContain(id);
  });

  it('refuses what is no path of a node, and training on Windows itself', async () => {
    const wrong = /C:\\images is a path of Windows, and a path of a node is wanted/;
    const run = await trainyard('run', 'lab', ...training('--data', 'C:\\images', '--steps', '1'));
    expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(wrong) as string]);
    const copy = await trainyard('copy', 'lab', asWindows(folder.path), 'C:\\images');
    expect([copy.code, copy.stderr]).toEqual([2, expect.stringMatching(wrong) as string]);
    const local = await trainyard('run', 'local', ...training('--data', 'synthetic', '--steps', '1'));
    expect(local.code).toBe(4);
    expect(local.stderr).toMatch(/this machine is Windows on x64.*profile of kind ssh/);
  });
});
