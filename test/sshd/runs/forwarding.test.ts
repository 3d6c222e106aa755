// Sites whose sshd forbids forwarding: TensorBoard's bridge and tunnels work all the same, through
// a program on the node.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { errorText } from '../../../src/core/base/errors.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { OpensshTransport } from '../../../src/core/ssh/openssh/opensshTransport.js';
import { bridgeToSocket } from '../../../src/core/tunnels/tensorboard.js';
import { Tunnels, type Tunnel } from '../../../src/core/tunnels/tunnels.js';
import { bundleDir, testCluster, type TestCluster } from '../support/cluster.js';
import { freePort, ScriptedPrompter } from '../support/hosts.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-forward-'));
const socketPath = join(dir, 'web.sock');
const web = createHttpServer((asked, response) => {
  asked.pipe(response);
});
const echo: Server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => undefined);
  socket.pipe(socket);
});
const clusters: TestCluster[] = [];
const machines: SshMachine[] = [];

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function cluster(name: string, extraConfig: string[]): Promise<TestCluster> {
  const made = await testCluster(join(dir, name), { nodes: 1, extraConfig });
  clusters.push(made);
  return made;
}

/** The user's own ssh has a configuration of this test, which knows the host. */
function machineBy(transport: 'ssh2' | 'openssh', { practice, machine, home }: TestCluster): SshMachine {
  if (transport === 'ssh2') return machine({ transport });
  const configFile = join(dir, `ssh_config-${machines.length}`);
  writeFileSync(configFile, `UserKnownHostsFile ${practice.knownHosts}\nGlobalKnownHostsFile /dev/null\n`);
  const questions = new Questions(new ScriptedPrompter());
  const own = new OpensshTransport({ prompter: questions, configFile, home });
  const made = new SshMachine({ profile: practice.profile, transport: own, questions, bundleDir });
  machines.push(made);
  return made;
}

/** Lines of the server's log with this in them. */
function logged(from: TestCluster, what: RegExp): number {
  const text = readFileSync(from.practice.nodes[0]?.log ?? '', 'utf8');
  return text.split('\n').filter((line) => what.test(line)).length;
}

async function tunnelTo(machine: SshMachine, remote: number): Promise<{ tunnels: Tunnels; tunnel: Tunnel }> {
  const tunnels = new Tunnels(machine, nullLogger);
  const spec = { local: await freePort(), address: '127.0.0.1', remote };
  return { tunnels, tunnel: await tunnels.open(spec) };
}

async function everything(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

beforeAll(async () => {
  web.listen(socketPath);
  echo.listen(0, '127.0.0.1');
  await Promise.all([once(web, 'listening'), once(echo, 'listening')]);
});
afterAll(async () => {
  for (const each of machines) each.dispose();
  for (const each of clusters) await each.stop();
  web.closeAllConnections();
  web.close();
  echo.close();
  rmSync(dir, { recursive: true, force: true });
});

const forbidding: [string, string[]][] = [
  ['both kinds', ['AllowStreamLocalForwarding no', 'AllowTcpForwarding no']],
  ['DisableForwarding', ['DisableForwarding yes']],
];

describe.each(forbidding)('where sshd forbids forwarding: %s', (name, extraConfig) => {
  let hosts: TestCluster;
  beforeAll(async () => {
    hosts = await cluster(name.replace(' ', '-'), extraConfig);
  });

  test.each(['ssh2', 'openssh'] as const)('sockets and ports are reached by %s', async (transport) => {
    const machine = machineBy(transport, hosts);
    const refusals = logged(hosts, /refused|forbid|not permitted/i);
    const bridge = await bridgeToSocket(machine, nodePath(socketPath));
    expect(await bridge.answers()).toBe(true);
    const sent = Array.from({ length: 8 }, () => randomBytes(1_500_000));
    const back = await Promise.all(
      sent.map(async (body) => {
        const answer = await fetch(bridge.url, { method: 'POST', body });
        return Buffer.from(await answer.arrayBuffer());
      }),
    );
    expect(back.map(digest)).toEqual(sent.map(digest));
    bridge.dispose();

    // More at once than the sessions that sshd allows (10), each in use to its end.
    const { tunnels, tunnel } = await tunnelTo(machine, portOf(echo));
    const sockets = Array.from({ length: 15 }, () => connect(tunnel.forward.port, '127.0.0.1'));
    for (const [index, socket] of sockets.entries()) {
      socket.write(`hello ${index}`);
      expect(String((await once(socket, 'data'))[0])).toBe(`hello ${index}`);
    }
    const bytes = randomBytes(3_000_000);
    const [last] = sockets;
    last?.end(bytes);
    expect(digest(await everything(last!))).toBe(digest(bytes));
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => tunnel.forward.connections).toBe(0);
    expect(tunnel.forward.state).toBe('open');
    tunnels.dispose();
    expect(logged(hosts, /refused|forbid|not permitted/i) - refusals).toBeLessThan(8);
  });
});

test.each(['ssh2', 'openssh'] as const)('where nobody listens, %s says so at once', async (transport) => {
  const machine = machineBy(transport, clusters[0]!);
  await expect(machine.connectSocket(nodePath(join(dir, 'nobody.sock')))).rejects.toThrow(
    /nobody\.sock: No such file or directory/,
  );
  const { tunnels, tunnel } = await tunnelTo(machine, await freePort());
  const socket = connect(tunnel.forward.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'close');
  expect(errorText(tunnel.forward.lastProblem)).toMatch(/127\.0\.0\.1 port \d+: Connection refused/);
  tunnels.dispose();
});

test('where no program can be started either, the reason comes at once', async () => {
  const hosts = await cluster('no-program', ['DisableForwarding yes', 'ForceCommand exit 7']);
  const failed = await hosts
    .machine()
    .connectSocket(nodePath(socketPath))
    .catch((error: unknown) => error);
  expect(String(failed)).toMatch(/does not forward to .*web\.sock.*cannot be started: .*exit 7/);
});

test('where forwarding works, no program is started', async () => {
  const hosts = await cluster('plain', []);
  for (const transport of ['ssh2', 'openssh'] as const) {
    const machine = machineBy(transport, hosts);
    const bridge = await bridgeToSocket(machine, nodePath(socketPath));
    expect(await bridge.answers()).toBe(true);
    expect(await (await fetch(bridge.url, { method: 'POST', body: 'through' })).text()).toBe('through');
    bridge.dispose();
    expect(logged(hosts, /python3|set-up/)).toBe(0);
    expect(logged(hosts, /Starting session: command/)).toBeLessThanOrEqual(transport === 'ssh2' ? 0 : 1);
  }
});
