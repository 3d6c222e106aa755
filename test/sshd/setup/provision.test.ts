// Putting agent, trainer and files on a node, over a real sshd.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { runOnAll } from '../../../src/core/cluster/nodes/fanOut.js';
import type { HostLine } from '../../../src/core/cluster/nodes/hostLines.js';
import { withChannels } from '../../../src/core/cluster/nodes/nodeChannels.js';
import { checkPorts } from '../../../src/core/cluster/check/portCheck.js';
import type { SshNode } from '../../../src/core/cluster/nodes/sshNode.js';
import type { CheckResult } from '../../../src/core/base/checks.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { UserError } from '../../../src/core/base/errors.js';
import { Bootstrap } from '../../../src/core/setup/bootstrap.js';
import { identity } from '../../../src/core/setup/lease.js';
import { bundleDir, testCluster, type TestCluster } from '../support/cluster.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-provision-'));
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await testCluster(dir, { nodes: 2 });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

const home = (index: number): string => cluster.practice.nodes[index]!.home;
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
async function failure(work: Promise<unknown>): Promise<UserError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('the programs', () => {
  it('arrive whole, private, under the name of their content, and only once', async () => {
    const machine = cluster.machine();
    expect(machine.nodes[0]!.cudaBuild).toBe(undefined);
    await machine.node.hello();
    expect(machine.nodes[0]!.cudaBuild?.why).toMatch(/driver|GPUs/);
    const folder = join(home(0), '.trainyard', 'node');
    const [name, ...more] = readdirSync(folder);
    expect(more).toEqual([]);
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    for (const program of ['agent', 'trainer']) {
      const path = join(folder, name!, 'bin', program);
      expect(sha256(path)).toBe(sha256(join(bundleDir, 'bin', program)));
      expect(statSync(path).mode & 0o777).toBe(0o700);
    }
    expect(statSync(join(home(0), '.trainyard')).mode & 0o777).toBe(0o700);
    const before = statSync(join(folder, name!, 'bin', 'agent')).ino;
    await cluster.machine().node.hello();
    expect(statSync(join(folder, name!, 'bin', 'agent')).ino).toBe(before);
  });

  it('of a transfer that was cut leave nothing for the next one to trip over', async () => {
    const folder = join(home(1), '.trainyard', 'node');
    const dead = (await identity()).replace(/\d+-\d+$/, '999999-1');
    mkdirSync(join(folder, `.0123456789abcdef.partial-${dead}`, 'bin'), { recursive: true });
    const machine = cluster.machine();
    const probe = await machine.nodes[1]!.probe();
    const target = probe.nodeDir!;
    mkdirSync(join(folder, `.${target.split('/').at(-1)!}.partial-${dead}`));
    await machine.nodes[1]!.node.hello();
    expect(readdirSync(folder).sort()).toEqual([
      `.0123456789abcdef.partial-${dead}`,
      target.split('/').at(-1)!,
    ]);
  });

  it('do not go where programs cannot be: said before anything is copied', async () => {
    const blocked = join(dir, 'a file');
    writeFileSync(blocked, '');
    const error = await failure(cluster.machine({ workdir: join(blocked, 'x') }).node.hello());
    expect(error.code).toBe('preflight');
    expect(error.message).toMatch(/127\.0\.0\.2: workdir: .*Not a directory/);
    expect(error.hint).toEqual({ kind: 'otherWorkdir', host: '127.0.0.2' });
    const relative = await failure(cluster.machine({ workdir: 'here' }).node.hello());
    expect(relative.message).toMatch(/here is not an absolute path/);
  });
});

describe('copy', () => {
  it('brings a folder as it is to every node, whatever its names', async () => {
    const source = join(dir, 'source');
    mkdirSync(join(source, 'deep', '-dash'), { recursive: true });
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    writeFileSync(join(source, 'deep', 'é "$x" \n.bin'), bytes);
    writeFileSync(join(source, 'deep', '-dash', 'run.sh'), '#!/bin/sh\n');
    chmodSync(join(source, 'deep', '-dash', 'run.sh'), 0o755);
    const machine = cluster.machine();
    expect(await machine.copy(machine.nodes, source, nodePath('~/to here'))).toBe(2);
    for (const index of [0, 1]) {
      const to = join(home(index), 'to here', 'deep');
      expect(readFileSync(join(to, 'é "$x" \n.bin')).equals(bytes)).toBe(true);
      expect(statSync(join(to, '-dash', 'run.sh')).mode & 0o700).toBe(0o700);
    }
    await machine.copy(machine.nodes, join(source, 'deep', '-dash', 'run.sh'), nodePath('~/bin/renamed'));
    await machine.copy(machine.nodes, join(source, 'deep', '-dash', 'run.sh'), nodePath('~/bin/'));
    expect(readdirSync(join(home(1), 'bin')).sort()).toEqual(['renamed', 'run.sh']);
  });

  it('needs no program of this machine, and takes a name for a name', async () => {
    const source = join(dir, '@odd name');
    writeFileSync(source, Buffer.alloc(200_000, 3));
    vi.stubEnv('PATH', join(dir, 'no programs'));
    const machine = cluster.machine();
    try {
      expect(await machine.copy(machine.nodes, source, nodePath('~/odd/'))).toBe(1);
    } finally {
      vi.unstubAllEnvs();
    }
    expect(readFileSync(join(home(1), 'odd', '@odd name'))).toHaveLength(200_000);
  });

  it('says what cannot be copied, and leaves nothing half', async () => {
    const machine = cluster.machine();
    expect(
      (await failure(machine.copy(machine.nodes, join(dir, 'nowhere'), nodePath('~/x')))).message,
    ).toMatch(/nowhere cannot be copied/);
    const source = join(dir, 'links');
    mkdirSync(source);
    symlinkSync('/etc/passwd', join(source, 'link'));
    expect((await failure(machine.copy(machine.nodes, source, nodePath('~/links')))).message).toMatch(
      /no plain file/,
    );
    expect(existsSync(join(home(0), 'links', 'link'))).toBe(false);
    expect((await failure(machine.copy(machine.nodes, source, nodePath('relative')))).message).toMatch(
      /not an absolute path/,
    );
  });
});

describe('copies go from node to node', () => {
  /** How often this machine sent the files itself. */
  async function sendings(machine: SshMachine): Promise<number> {
    const source = join(dir, 'once');
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, 'data'), Buffer.alloc(3_000_000, 7));
    const sent = vi.spyOn(Bootstrap.prototype, 'input');
    const to = `~/relay-${Math.random().toString(36).slice(2)}`;
    expect(await machine.copy(machine.nodes, source, nodePath(to))).toBe(1);
    for (const index of [0, 1]) {
      expect(readFileSync(join(home(index), to.slice(2), 'data'))).toHaveLength(3_000_000);
    }
    const calls = sent.mock.calls.filter(([, params]) => JSON.stringify(params).includes(to));
    sent.mockRestore();
    return calls.length;
  }

  it('after one sending from here', async () => {
    expect(await sendings(cluster.machine())).toBe(1);
  });

  it('except where the node that has them lies: what it sends is refused, and comes from here', async () => {
    const source = join(dir, 'true');
    mkdirSync(source);
    writeFileSync(join(source, 'data'), 'true');
    const copies = [0, 1].map((index) => join(home(index), 'told', 'data'));

    const { request } = Bootstrap.prototype;
    const asked = vi.spyOn(Bootstrap.prototype, 'request').mockImplementation(async function (
      this: Bootstrap,
      op,
      ...more
    ) {
      if (op === 'fetch') writeFileSync(copies.find(existsSync)!, 'lies');
      return request.call(this, op, ...more);
    });
    const sent = vi.spyOn(Bootstrap.prototype, 'input');
    const machine = cluster.machine();
    expect(await machine.copy(machine.nodes, source, nodePath('~/told'))).toBe(1);
    expect(asked.mock.calls.filter(([op]) => op === 'fetch')).toHaveLength(1);
    expect(sent).toHaveBeenCalledTimes(2);
    asked.mockRestore();
    sent.mockRestore();
    expect(copies.map((path) => readFileSync(path, 'utf8')).sort()).toEqual(['lies', 'true']); // the liar keeps its own
  });

  it('except where no port is free, or none can be reached', async () => {
    const taken = createServer().listen(0, '0.0.0.0');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    expect(await sendings(cluster.machine({ portRange: `${port}-${port}` }))).toBe(2);
    taken.close();
    const hosts = cluster.profile.hosts!.map((host) => ({ ...host, address: '0.0.0.1' }));
    expect(await sendings(cluster.machine({ hosts }))).toBe(2);
  });
});

describe('folders of the head', () => {
  it('are listed by name, hidden ones and links to folders too; what cannot be read is said', async () => {
    const machine = cluster.machine();
    const at = join(home(0), 'listed');
    for (const name of ['b', 'a $x', '.hidden']) mkdirSync(join(at, name), { recursive: true });
    symlinkSync(join(at, 'b'), join(at, 'link'));
    symlinkSync(join(at, 'nowhere'), join(at, 'dangling'));
    writeFileSync(join(at, 'file'), '');
    expect(await machine.list(nodePath('~/listed'))).toEqual({
      folders: ['.hidden', 'a $x', 'b', 'link'],
      others: 2,
    });
    expect((await failure(machine.list(nodePath('~/listed/none')))).message).toMatch(
      /none: No such file or directory\. Name a path that exists on this node/,
    );
    expect((await failure(machine.list(nodePath('~/listed/file')))).message).toMatch(/file: Not a directory/);
  });
});

describe('the ports of the nodes', () => {
  const portsOf = (profile: Profile, nodes: readonly SshNode[]): Promise<CheckResult[]> =>
    withChannels(nodes, (asked) => checkPorts(profile, asked));

  it('are said to be open to all other nodes, and that of the head to this machine where it is', async () => {
    const { profile } = cluster;
    const results = await portsOf(profile, cluster.machine().nodes);
    const [ofHead, atHead, ...others] = results.map(
      ({ host, ok, detail }) => `${host ?? ''} ${ok ? 'ok' : 'no'} ${detail}`,
    );
    const [, port = ''] =
      /^127\.0\.0\.2 ok port (\d+) can be reached from this machine too/.exec(ofHead ?? '') ?? [];
    const [first = 0, last = 0] = profile.portRange!.split('-').map(Number);
    expect(Number(port)).toBeGreaterThanOrEqual(first);
    expect(Number(port)).toBeLessThanOrEqual(last);
    expect(atHead).toBe('127.0.0.2 ok reaches itself at 127.0.0.2');
    expect(others).toEqual(['127.0.0.2 ok reaches the other node', '127.0.0.3 ok reaches the other node']);
  });

  it('are said to be closed to a node, with what to do about it', async () => {
    const hosts = cluster.profile.hosts!.map((host) => ({ ...host, address: '0.0.0.1' }));
    const [, ofHead, , result] = await portsOf(cluster.profile, cluster.machine({ hosts }).nodes);
    expect(ofHead).toMatchObject({ host: '127.0.0.2', ok: true, warning: true });
    expect(ofHead!.detail).toMatch(/^does not reach itself at 0\.0\.0\.1, where own programs meet/);
    expect(result).toMatchObject({ host: '127.0.0.3', ok: false });
    expect(result!.detail).toMatch(/^does not reach 127\.0\.0\.2: /);
    expect(result!.hint).toMatchObject({ kind: 'openPorts', host: '127.0.0.2' });
  });

  it('are said to be taken where they are', async () => {
    const taken = createServer().listen(0, '0.0.0.0');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const profile = { ...cluster.profile, portRange: `${port}-${port}` };
    const results = await portsOf(profile, cluster.machine().nodes);
    expect(results).toMatchObject(
      profile.hosts!.map(({ host }) => ({
        ...{ host, ok: false, detail: `no port from ${port} to ${port} is free` },
      })),
    );
    taken.close();
  });
});

describe('exec', () => {
  it('tells lines and endings of each host apart, also of what cannot start', async () => {
    const machine = cluster.machine();
    const lines: string[] = [];
    const endings = await runOnAll(
      machine.nodes,
      ['sh', '-c', 'echo $HOME; printf last'],
      ({ host, text }) => {
        lines.push(`${host} ${text}`);
      },
    );
    expect(endings.map(({ code }) => code)).toEqual([0, 0]);
    expect(lines.sort()).toEqual(
      [`127.0.0.2 ${home(0)}`, '127.0.0.2 last', `127.0.0.3 ${home(1)}`, '127.0.0.3 last'].sort(),
    );
    const missing = await runOnAll(machine.nodes.slice(0, 1), ['no-such-program'], ({ text }) =>
      lines.push(text),
    );
    expect(missing[0]?.code).toBe(127);
    expect(lines.at(-1)).toMatch(/no-such-program cannot be started: No such file/);
  });

  it('cuts a line without end, and says how much of it is left out', async () => {
    const [node] = cluster.machine().nodes;
    const lines: HostLine[] = [];
    const words = [
      'sh',
      '-c',
      `head -c 100000000 /dev/zero; printf '\\nnext\\n'; head -c 70000 /dev/zero >&2`,
    ];
    const [ending] = await runOnAll([node!], words, (line) => lines.push(line));
    expect(ending?.code).toBe(0);
    const read = (stream: string): object[] =>
      lines.filter((line) => line.stream === stream).map(({ text, cut }) => ({ length: text.length, cut }));
    expect(read('stdout')).toEqual([
      { length: 65_536, cut: 100_000_000 - 65_536 },
      { length: 4, cut: 0 },
    ]);
    expect(read('stderr')).toEqual([{ length: 65_536, cut: 70_000 - 65_536 }]);
  });

  it('refuses a host that is not of the profile', () => {
    expect(() => cluster.machine().select(['127.0.0.9'])).toThrow(/Its hosts are 127\.0\.0\.2, 127\.0\.0\.3/);
  });
});
