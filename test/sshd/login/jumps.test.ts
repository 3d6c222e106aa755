// Hosts behind hosts: each hop is checked and logged in to on its own, and one connection serves
// all behind it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';
import { Cancelled } from '../../../src/core/base/errors.js';
import { Unreached } from '../../../src/core/ssh/base/failures.js';
import type { SshTarget } from '../../../src/core/ssh/base/transport.js';
import { freePort, known, ScriptedPrompter, text, World } from '../support/hosts.js';

const world = new World();
const other = readFileSync(`${world.makeKey('other')}.pub`, 'utf8')
  .split(' ')
  .slice(0, 2)
  .join(' ');
const count = 32;
const half = count / 2;
const addresses = Array.from({ length: count }, (_, index) => `127.0.1.${index + 1}`);
let jump: Sshd;
let second: Sshd;
/** Each listens on half of the addresses: sshd takes 16 at most. */
let nodes: Sshd[];
let prompter: ScriptedPrompter;

const accepted = (server: Sshd): number =>
  readFileSync(server.log, 'utf8').match(/Accepted publickey/g)?.length ?? 0;
const acceptedByNodes = (): number => nodes.reduce((sum, node) => sum + accepted(node), 0);
const logOfNodes = (): string => nodes.map(log).join('');
const log = (server: Sshd): string => readFileSync(server.log, 'utf8');
const nodeAt = (index: number, proxyJump: string): SshTarget => ({
  host: addresses[index]!,
  port: nodes[Math.floor(index / half)]!.port,
  identityFile: world.key,
  proxyJump,
});
const hop = (server: Sshd): string => `${server.address}:${server.port}`;

beforeAll(async () => {
  world.configure(`IdentityFile ${world.key}`);
  jump = await world.serve('127.0.0.2', {
    extraConfig: ['MaxStartups 2:50:4', 'MaxSessions 2', 'LogLevel DEBUG1'],
  });
  second = await world.serve('127.0.0.3');
  nodes = [];
  for (const some of [addresses.slice(0, half), addresses.slice(half)]) {
    const [first, ...others] = some;
    const port = await freePort(first);
    const listen = others.map((address) => `ListenAddress ${address}:${port}`);
    nodes.push(await world.serve(first!, { port, extraConfig: ['MaxStartups 2:50:4', ...listen] }));
  }
  await vi.waitUntil(() => logOfNodes().match(/Server listening/g)?.length === count);
});

/** The nodes as known_hosts calls them. */
const knownNodes = (): string[] =>
  nodes.map(({ port, hostKey }) => `[127.0.1.*]:${port} ${hostKey.split(' ').slice(0, 2).join(' ')}`);
beforeEach(() => {
  prompter = new ScriptedPrompter();
  world.know(known(jump), known(second), ...knownNodes());
});
afterAll(() => world.remove());

test('two hops, one after the other', async () => {
  const transport = world.transport(prompter);
  const connection = await transport.connect(nodeAt(0, `${hop(jump)},${hop(second)}`));
  const channel = await connection.exec('echo $SSH_CONNECTION');
  expect(await text(channel.stdout)).toMatch(new RegExp(`^127\\.0\\.0\\.\\d+ \\d+ 127\\.0\\.1\\.1 \\d+`));
  expect(prompter.questions).toEqual([]);
  transport.dispose();
});

test('32 hosts behind a busy jump host: all connected, with one login to the jump host and one to each', async () => {
  const before = [accepted(jump), acceptedByNodes()];
  const transport = world.transport(prompter);
  const connections = await Promise.all(
    addresses.map((_, index) => transport.connect(nodeAt(index, hop(jump)))),
  );
  const answers = await Promise.all(
    connections.map(async (connection) => text((await connection.exec('echo $SSH_CONNECTION')).stdout)),
  );
  expect(answers.map((answer) => answer.split(' ')[2])).toEqual(addresses);
  expect([accepted(jump) - before[0]!, acceptedByNodes() - before[1]!]).toEqual([1, count]);
  for (const connection of connections) connection.dispose();
  await expect.poll(() => log(jump)).toContain('Disconnected from user');
  transport.dispose();
});

test('a changed key of the jump host only: nothing is sent to it, and the host behind is not reached', async () => {
  world.know(`[${jump.address}]:${jump.port} ${other}`, ...knownNodes());
  const before = log(jump).length;
  // Counted: that earlier connections have ended may be logged only now.
  const reached = (): number => logOfNodes().split('Connection from').length - 1;
  const reachedBefore = reached();
  expect(reachedBefore).toBeGreaterThan(0);
  const transport = world.transport(prompter);
  await expect(transport.connect(nodeAt(0, hop(jump)))).rejects.toThrow(
    'the host key of 127.0.0.2 has changed',
  );
  const said = log(jump).slice(before);
  expect(said).toContain('Connection from');
  expect(said).not.toMatch(/userauth|Accepted|Failed|authenticating user/);
  expect(reached()).toBe(reachedBefore);
  const { host, port, proxyJump } = nodeAt(0, hop(jump));
  world.configure(`IdentityFile ${world.makeKey('locked', { passphrase: 'never asked for' })}`);
  const byQuestion = transport.connect({ host, port: port!, proxyJump: proxyJump! });
  await expect(byQuestion).rejects.toThrow('the host key of 127.0.0.2 has changed');
  expect(prompter.secrets).toEqual([]);
  world.configure(`IdentityFile ${world.key}`);
});

test('a jump host that is lost takes along what goes through it', async () => {
  const transport = world.transport(prompter);
  const connection = await transport.connect(nodeAt(0, hop(jump)));
  const lost = new Promise<Error>((resolve) => connection.onClose(resolve));
  execFileSync('pkill', ['-KILL', '-P', String(jump.pid)]);
  expect((await lost).message).toContain('the connection to 127.0.1.1 was lost');
  const again = await transport.connect(nodeAt(0, hop(jump)));
  expect(await text((await again.exec('echo back')).stdout)).toBe('back\n');
});

/** Answers no further connection: Linux drops new ones once its queue of unaccepted ones is full. */
const silentProgram = `
import socket, sys
server = socket.socket()
server.bind(("127.0.2.1", 0))
server.listen(0)
waiting = []
for _ in range(4):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(server.getsockname())
    waiting.append(one)
print(server.getsockname()[1], flush=True)
sys.stdin.read()
`;

test('a silent host behind a jump host is given up as one in front of it, and at once when it is asked', async () => {
  const silent = spawn('python3', ['-c', silentProgram], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(silent.stdout.setEncoding('utf8'), 'data')) as [string];
    const target = { ...nodeAt(0, hop(jump)), host: '127.0.2.1', port: Number(line) };
    const transport = world.transport(prompter);
    await transport.connect(nodeAt(0, hop(jump))); // the jump host is there
    const abort = new AbortController();
    const given = transport.connect(target, { signal: abort.signal });
    setTimeout(() => {
      abort.abort();
    }, 500);
    const begun = Date.now();
    await expect(given).rejects.toBeInstanceOf(Cancelled);
    expect(Date.now() - begun).toBeLessThan(4_000);
    const error: unknown = await transport.connect(target).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Unreached);
    expect((error as Error).message).toContain('127.0.2.1');
    expect(Date.now() - begun).toBeLessThan(20_000);
  } finally {
    silent.kill();
  }
});

test('a loop of jump hosts is named', async () => {
  const loop = [
    `Host ${jump.address}\nProxyJump ${hop(second)}`,
    `Host ${second.address}\nProxyJump ${hop(jump)}`,
  ];
  world.configure([...loop, `Host *\nIdentityFile ${world.key}`].join('\n'));
  const transport = world.transport(prompter);
  await expect(transport.connect(nodeAt(1, hop(jump)))).rejects.toThrow('more than 8 jump hosts');
  world.configure(`IdentityFile ${world.key}`);
});
