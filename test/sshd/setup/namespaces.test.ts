// The harness itself: hosts apart from one another and from the client but for a busy jump host, by
// the real ssh.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NamespaceCluster, removeLeftovers, unavailable } from '../../support/namespaces.js';
import { TcpProxy } from '../support/tcpProxy.js';

const run = promisify(execFile);
const netns = (): string => execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' });

describe.skipIf(unavailable !== undefined)(
  `four hosts behind a jump host (${unavailable ?? 'namespaces'})`,
  () => {
    let cluster: NamespaceCluster;

    const options = (): string[] => ['-F', cluster.sshConfig];
    const jumping = (): string[] => [...options(), '-J', cluster.jumpAddress];

    beforeAll(async () => {
      removeLeftovers();
      cluster = await NamespaceCluster.start({ hosts: 4, jump: ['MaxStartups 2:50:4'] });
    });
    // Other files make and remove namespaces at the same time: looked at is what has our numbers.
    const own = (): { namespaces: string[]; routes: string[] } => {
      const id = cluster.hosts[0]!.namespace.replace(/h\d+$/, '');
      const net = new RegExp(`198\\.1[89]\\.${cluster.jumpAddress.split('.')[2] ?? ''}\\.`);
      const routes = execFileSync('ip', ['route'], { encoding: 'utf8' }).split('\n');
      return {
        namespaces: netns()
          .split('\n')
          .filter((line) => line.startsWith(id)),
        routes: routes.filter((line) => net.test(line)),
      };
    };
    afterAll(async () => {
      const { namespaces, routes } = own();
      await cluster.stop();
      expect(own()).toEqual({ namespaces: [], routes: [] });
      expect(namespaces).toHaveLength(6); // the jump host, four behind it, and their network
      expect(routes.length).toBeGreaterThanOrEqual(2);
    });

    test('each answers through the jump host, and only so', async () => {
      for (const host of cluster.hosts) {
        const { stdout } = await run('ssh', [...jumping(), host.address, 'echo $HOME']);
        expect(stdout).toBe(`${host.home}\n`);
      }
      await expect(run('ssh', [...options(), cluster.hosts[0]!.address, 'true'])).rejects.toThrow();
    });

    test('a cut host falls silent and a healed one answers', async () => {
      const [first, second] = [cluster.hosts[0]!, cluster.hosts[1]!];
      const ping = run('ssh', [...jumping(), second.address, 'true']);
      await ping;
      cluster.cut(second);
      await expect(run('ssh', [...jumping(), second.address, 'true'])).rejects.toThrow();
      await run('ssh', [...jumping(), first.address, 'true']);
      cluster.heal(second);
      await run('ssh', [...jumping(), second.address, 'true']);
    });

    test('the jump host takes few connections that have not logged in', async () => {
      const raw = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const child = spawn('bash', [
            '-c',
            `exec 3<>/dev/tcp/${cluster.jumpAddress}/22; head -c 4 <&3; sleep 4`,
          ]);
          let text = '';
          child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
          await once(child, 'close');
          return text;
        }),
      );
      const served = raw.filter((text) => text === 'SSH-').length;
      expect(served).toBeGreaterThanOrEqual(2);
      expect(served).toBeLessThanOrEqual(4);
    });

    test('a proxy delays and cuts', async () => {
      const proxy = await TcpProxy.start({ host: cluster.jumpAddress, port: 22 }, { delayMs: 200 });
      const through = (): Promise<{ stdout: string }> =>
        run('ssh', [
          ...options(),
          ...[
            '-o',
            `HostKeyAlias=${cluster.jumpAddress}`,
            '-p',
            String(proxy.port),
            '127.0.0.1',
            'echo through',
          ],
        ]);
      try {
        const started = Date.now();
        expect((await through()).stdout).toBe('through\n');
        expect(Date.now() - started).toBeGreaterThan(1000);
        proxy.faults = { cutAfter: 3000 };
        await expect(through()).rejects.toThrow(/reset|closed/);
        expect(proxy.accepted).toBe(2);
      } finally {
        await proxy.stop();
      }
    });
  },
);

test.skipIf(unavailable !== undefined)('what a killed test left is removed', () => {
  const dead = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
  const name = `ty${dead}-0-h0`;
  execFileSync('ip', ['netns', 'add', name]);
  removeLeftovers();
  expect(netns()).not.toContain(name);
});
