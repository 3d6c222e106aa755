// Fault 16: TensorBoard over SSH, where its port is taken, strangers ask, and it dies or takes its
// time.
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { request } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf } from '../../scripts/lib/errors.mjs';
import { startSshd } from '../../scripts/practice/sshd.mjs';
import { nodePath } from '../../src/core/base/nodePath.js';
import { UserError } from '../../src/core/base/errors.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { TensorBoards } from '../../src/core/tunnels/tensorboard.js';
import { processesNaming, until } from '../support/harness.js';
import { freePort, known } from '../sshd/support/hosts.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { measured, seconds, startRun, training, untilOver } from './support/runs.js';

let hosts: FaultHosts;
let machine: SshMachine;
let dir: string;
/** The port that is tried first. */
const first = 6006;
const holding: Server[] = [];
const boards = new TensorBoards({ howToOpen: 'open it so' });

beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 1 });
  machine = hosts.machine();
  dir = await startRun(machine, hosts.profile, training(50));
  await untilOver(machine, nodePath(dir));
});
afterAll(async () => {
  boards.dispose();
  for (const server of holding) server.close();
  await hosts.stop();
});

function bound(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => socket.end());
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      resolve(server);
    });
  });
}

/** Whether the port is free. */
async function listens(port: number): Promise<boolean> {
  const server = await bound(port);
  if (!server) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** From now on it is taken, by this test or by somebody else. */
async function hold(port: number): Promise<void> {
  const server = await bound(port);
  if (server) holding.push(server);
}

function ask(url: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, body });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** TensorBoard and whatever it started. */
const processes = (): number[] =>
  processesNaming(dir)
    .filter((line) => line.includes('tensorboard'))
    .map((line) => Number(line.split(' ')[0]));

/** Where a link leads; '' when it went meanwhile. */
function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return '';
  }
}

/** Ports on which one of these processes listens. */
function listening(pids: readonly number[]): string[] {
  const sockets = new Set(
    pids.flatMap((pid) =>
      readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
        const inode = /^socket:\[(\d+)\]$/.exec(linkAt(`/proc/${pid}/fd/${name}`))?.[1];
        return inode === undefined ? [] : [inode];
      }),
    ),
  );
  expect(sockets.size).toBeGreaterThan(0);
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && sockets.has(fields[9] ?? ''))
      .map((fields) => fields[1] ?? ''),
  );
}

describe('TensorBoard of a run on a node', () => {
  test('comes to 6006 where that is free, to the next free port where it is taken', async () => {
    const boards = new TensorBoards({ howToOpen: 'open it so' });
    try {
      const bridge = await boards.open(machine, nodePath(dir));
      // Tests beside this one open theirs too.
      if (bridge.port !== first) expect(await listens(first)).toBe(false);
    } finally {
      boards.dispose();
    }
    await hold(first);
    let next = first + 1;
    while (!(await listens(next))) ++next;
    const another = new TensorBoards();
    try {
      expect((await another.open(machine, nodePath(dir))).port).toBe(next);
    } finally {
      another.dispose();
    }
  });

  test('answers nobody who came by another name, and listens on no port there', async () => {
    const began = Date.now();
    const bridge = await boards.open(machine, nodePath(dir));
    measured(16, `served at port ${bridge.port} after ${seconds(Date.now() - began)}, 6006 being taken`);
    expect(bridge.port).not.toBe(first);
    const page = await ask(bridge.url);
    expect(page.status).toBe(200);
    expect(page.body).toContain('TensorBoard');
    const foreign: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: `evil.example:${bridge.port}` },
      { host: '127.0.0.1:6006' },
      { origin: 'http://evil.example' },
      { origin: 'null' },
    ];
    for (const headers of foreign) {
      expect({ headers, status: (await ask(bridge.url, headers)).status }).toEqual({ headers, status: 403 });
    }
    expect((await ask(bridge.url, { origin: `http://127.0.0.1:${bridge.port}` })).status).toBe(200);
    expect(listening(processes())).toEqual([]);
  });

  test.skipIf(userInfo().uid !== 0)('is closed to another user of the node (as root only)', async () => {
    const { socket } = await (
      await machine.node.client()
    ).request('tensorboard.status', { dir: nodePath(dir) });
    const knock = `import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
    print("open")
except PermissionError:
    print("closed")`;
    expect(execFileSync('python3', ['-c', knock, socket ?? ''], { encoding: 'utf8' })).toBe('closed\n');
  });

  test.skipIf(userInfo().uid !== 0)('is closed to another user of the client (as root only)', async () => {
    const bridge = await boards.open(machine, nodePath(dir));
    const port = String(bridge.port);
    const guess = '0'.repeat(32);
    const paths = ['/', '/data/runs', `/${guess}/`, `/${guess}/data/runs`];
    const knock = `import http.client, os, sys
"a".encode("idna") # loads what the other user may not read
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for path in sys.argv[2:]:
    asked = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
    asked.request("GET", path)
    print(asked.getresponse().status)`;
    const { stdout } = await promisify(execFile)('python3', ['-c', knock, port, ...paths]);
    expect(stdout.trim().split('\n')).toEqual(['403', '403', '403', '403']);
    const refused = await ask(`http://127.0.0.1:${port}/`);
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('open it so');
    expect((await ask(`${bridge.url}data/runs`)).status).toBe(200);
  });

  test('is reached where sshd forbids forwarding, and sshd is not asked for ever', async () => {
    const [host] = hosts.profile.hosts ?? [];
    const address = '127.0.0.2';
    const stateDir = mkdtempSync(join(tmpdir(), 'trainyard-forbids-'));
    const forbidding = await startSshd({
      address,
      port: await freePort(address),
      home: hosts.homes[0] ?? '',
      stateDir,
      authorizedKey: readFileSync(`${host?.identityFile ?? ''}.pub`, 'utf8'),
      extraConfig: ['AllowStreamLocalForwarding no'],
    });
    const others = new TensorBoards();
    try {
      appendFileSync(join(hosts.trainyardHome, 'known_hosts'), `${known(forbidding)}\n`);
      const through = hosts.machine({ hosts: [{ ...host, host: address, port: forbidding.port }] });
      await boards.stop(machine, nodePath(dir)); // so that it is waited for
      const bridge = await others.open(through, nodePath(dir));
      expect((await ask(bridge.url)).body).toContain('TensorBoard');
      const refused = readFileSync(forbidding.log, 'utf8').match(/refused streamlocal/g) ?? [];
      measured(16, `forwarding forbidden: served by a program, after ${refused.length} refusals`);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThan(40); // of a start that may take 45 s here: one every 2 s
      through.dispose();
    } finally {
      others.dispose();
      await forbidding.stop();
      rmSync(stateDir, { recursive: true, force: true });
    }
  });

  test('that is killed says so, and starts again', async () => {
    const before = await boards.open(machine, nodePath(dir));
    const { pid } = await (await machine.node.client()).request('tensorboard.status', { dir: nodePath(dir) });
    for (const each of processes()) process.kill(each, 'SIGKILL');
    await expect
      .poll(async () => (await boards.status(machine, nodePath(dir))).running, { timeout: 10_000 })
      .toBe(false);
    const answer = await ask(before.url);
    expect(answer.status).toBe(502);
    expect(answer.body).toMatch(/TensorBoard/);
    const began = Date.now();
    const bridge = await boards.open(machine, nodePath(dir));
    expect((await ask(bridge.url)).status).toBe(200);
    const after = await (await machine.node.client()).request('tensorboard.status', { dir: nodePath(dir) });
    expect(after).toMatchObject({ running: true });
    expect(after.pid).not.toBe(pid);
    measured(16, `killed and started again: serving after ${seconds(Date.now() - began)}`);
  });

  test('that takes its time is waited for; one that dies meanwhile is said with its last words', async () => {
    await boards.stop(machine, nodePath(dir));
    await until('TensorBoard to end', () => processes().length === 0, 20);
    const opening = boards.open(machine, nodePath(dir));
    const [pid] = await until('its process', () => (processes().length > 0 ? processes() : undefined), 20);
    process.kill(pid!, 'SIGSTOP');
    await sleep(3000);
    const resumedAt = Date.now();
    process.kill(pid!, 'SIGCONT');
    const bridge = await opening;
    expect(Date.now()).toBeGreaterThan(resumedAt);
    expect((await ask(bridge.url)).status).toBe(200);

    await boards.stop(machine, nodePath(dir));
    await until('TensorBoard to end', () => processes().length === 0, 20);
    const dying = boards.open(machine, nodePath(dir)).catch((error: unknown) => error);
    const doomed = await until('its process', () => (processes().length > 0 ? processes() : undefined), 20);
    for (const each of doomed) process.kill(each, 'SIGKILL');
    const error = await dying;
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(/TensorBoard|tensorboard/);
    expect(error instanceof UserError ? error.code : 'agent').toMatch(/failed|agent/);
    expect((await ask((await boards.open(machine, nodePath(dir))).url)).status).toBe(200);
  });
});
