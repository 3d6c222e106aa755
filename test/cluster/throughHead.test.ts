// A cluster whose keys lie on its head: this machine can log in there and nowhere else, and the
// head's own ssh reaches the others.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorText } from '../../src/core/base/errors.js';
import { nodePath } from '../../src/core/base/nodePath.js';
import { runOnAll } from '../../src/core/cluster/nodes/fanOut.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { nullLogger } from '../../src/core/base/log.js';
import type { PortForward } from '../../src/core/tunnels/portForward.js';
import { Tunnels } from '../../src/core/tunnels/tunnels.js';
import { freePort } from '../sshd/support/hosts.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { eventsOf, linesOf, startRun, training, Watcher } from './support/runs.js';

let hosts: FaultHosts;
let machine: SshMachine;
const tools = mkdtempSync(join(tmpdir(), 'trainyard-head-'));
const key = join(tools, 'id_ed25519');

/**
 * OpenSSH looks into the home folder that the list of users gives, which is one for all hosts here:
 * so the head's settings are named to it.
 */
function headsOwnSsh(): void {
  const config = join(tools, 'config');
  const lines = [
    `IdentityFile ${key}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${join(tools, 'known_hosts')}`,
    'StrictHostKeyChecking no', // as some sites have them: they must not count here
    'NoHostAuthenticationForLocalhost yes', // the nodes of these tests are of 127.0.0.0/8
  ];
  writeFileSync(config, `Host *\n  ${lines.join('\n  ')}\n`);
  const real = execFileSync('sh', ['-c', 'command -v ssh'], { encoding: 'utf8' }).trim();
  writeFileSync(join(tools, 'ssh'), `#!/bin/sh\nexec ${real} -F ${config} "$@"\n`);
  chmodSync(join(tools, 'ssh'), 0o755);
}

beforeAll(async () => {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  headsOwnSsh();
  const PATH = `${tools}:${process.env['PATH'] ?? ''}`;
  hosts = await practiceHosts({ nodes: 2, environments: [{ PATH }] });
  // The other one lets in the key that lies on the head, and no other.
  writeFileSync(join(hosts.homes[1]!, '../sshd/authorized_keys'), readFileSync(`${key}.pub`));
  machine = hosts.machine({ launcher: 'ssh' });
});
afterAll(async () => {
  await hosts.stop();
  rmSync(tools, { recursive: true, force: true });
});

describe('a cluster whose keys lie on its head', () => {
  it('is refused, with what to do, while the head does not know the key of the other host', async () => {
    await expect(hosts.machine({ launcher: 'ssh' }).connectAll()).rejects.toMatchObject({
      what: expect.stringMatching(/^127\.0\.0\.2 cannot log in to 127\.0\.0\.3: ./) as string,
      hint: { kind: 'loginFromHead', host: '127.0.0.2', address: '127.0.0.3' },
    });
    const known = readFileSync(join(hosts.trainyardHome, 'known_hosts'));
    writeFileSync(join(tools, 'known_hosts'), known);
  });

  it('cannot be reached from here but for the head', async () => {
    await expect(hosts.machine().connectAll()).rejects.toThrow(/127\.0\.0\.3/);
  });

  it('runs commands and gets files', async () => {
    await machine.connectAll();
    const lines: string[] = [];
    const program = 'import os; print(os.environ["HOME"])';
    const endings = await runOnAll(machine.nodes, ['python3', '-c', program], ({ text }) => lines.push(text));
    expect(endings.map(({ code }) => code)).toEqual([0, 0]);
    expect(lines.sort()).toEqual([...hosts.homes].sort());
    const file = join(tools, 'config');
    expect(await machine.copy(machine.nodes, file, nodePath('~/copied'))).toBe(1);
    for (const home of hosts.homes) {
      expect(readFileSync(join(home, 'copied')).equals(readFileSync(file))).toBe(true);
    }
  });

  it('has more nodes than a connection to the head has channels', { timeout: 120_000 }, async () => {
    const [head, other] = hosts.profile.hosts ?? [];
    if (!head || !other) throw new Error('the cluster has two hosts');
    // One machine by many names: each is a node with an agent and channels of its own.
    const names = Array.from({ length: 13 }, (_, at) => ({ ...other, host: `n${at}`, address: other.host }));
    const many = hosts.machine({ launcher: 'ssh', hosts: [head, ...names] });
    try {
      // One after the other: its one sshd drops logins where ten come at once.
      for (const { node } of many.nodes) await node.hello();
      for (const node of many.nodes) {
        const [ending] = await runOnAll([node], ['true'], () => undefined);
        expect(ending?.code).toBe(0);
      }
    } finally {
      many.dispose();
    }
  });

  it('trains on both hosts', async () => {
    const dir = await startRun(machine, hosts.profile, training(300));
    const watcher = new Watcher(machine, dir);
    const { state } = await watcher.ended;
    watcher.dispose();
    expect(state).toMatchObject({ phase: 'finished', exitCode: 0, world: 2 });
    const started = eventsOf(dir).flatMap((event) => (event.kind === 'rank_started' ? [event.host] : []));
    expect(started.sort()).toEqual(['127.0.0.2', '127.0.0.3']);
    expect(
      linesOf(dir, 'metrics.jsonl')
        .filter(({ kind }) => kind === 'step')
        .at(-1),
    ).toMatchObject({ step: 300 });
  });

  it('brings a port of the other host here, and says why where nothing listens', async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port } = echo.address() as AddressInfo;
    const tunnels = new Tunnels(machine, nullLogger);
    const open = async (remote: number): Promise<PortForward> => {
      const spec = { host: '127.0.0.3', local: await freePort(), address: '127.0.0.1', remote };
      return (await tunnels.open(spec)).forward;
    };
    const socket = connect((await open(port)).port, '127.0.0.1');
    socket.end('through the head');
    expect(String((await once(socket, 'data'))[0])).toBe('through the head');
    const nowhere = await open(await freePort());
    await once(connect(nowhere.port, '127.0.0.1').resume(), 'close');
    expect(errorText(nowhere.lastProblem)).toMatch(/127\.0\.0\.3 does not connect to .*: Connection refused/);
    tunnels.dispose();
    echo.close();
  });

  it('says where a terminal is to be opened', async () => {
    const connection = await machine.nodes[1]!.connection();
    await expect(connection.shell({ columns: 80, rows: 24, term: 'xterm' })).rejects.toMatchObject({
      hint: { kind: 'terminalOnHead', host: '127.0.0.2', address: '127.0.0.3' },
    });
  });
});
