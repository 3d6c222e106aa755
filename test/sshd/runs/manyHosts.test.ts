// 32 hosts, each a network namespace with an sshd of its own, behind one jump host that takes few
// connections at a time.
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { runOnAll } from '../../../src/core/cluster/nodes/fanOut.js';
import { withChannels } from '../../../src/core/cluster/nodes/nodeChannels.js';
import { checkPorts } from '../../../src/core/cluster/check/portCheck.js';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { Bootstrap } from '../../../src/core/setup/bootstrap.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { Ssh2Transport } from '../../../src/core/ssh/ssh2/ssh2Transport.js';
import { bundleDir } from '../support/cluster.js';
import { NamespaceCluster, unavailable } from '../../support/namespaces.js';

const count = 32;
/** Seconds: what users are promised. */
const connectLimit = 20;
const execLimit = 3;

/**
 * Seconds so far: what this process computed, and how long a processor had nothing to do, as the
 * mean of all. What grows of these is the time that hosts with processors of their own would leave.
 */
function withoutHosts(): number {
  const { user, system } = process.cpuUsage();
  const idle = cpus().map(({ times }) => times.idle / 1000);
  return (user + system) / 1e6 + idle.reduce((sum, each) => sum + each, 0) / idle.length;
}

describe.skipIf(unavailable !== undefined)(
  `32 hosts behind a busy jump host (${unavailable ?? 'namespaces'})`,
  () => {
    let cluster: NamespaceCluster;
    let machine: SshMachine;
    let home: string;
    let profile: Profile;

    beforeAll(async () => {
      cluster = await NamespaceCluster.start({
        hosts: count,
        jump: ['MaxStartups 2:50:4', 'MaxSessions 2'],
        extraConfig: ['MaxStartups 2:50:4'],
      });
      home = mkdtempSync(join(tmpdir(), 'trainyard-many-'));
      mkdirSync(home, { recursive: true });
      copyFileSync(cluster.knownHosts, join(home, 'known_hosts'));
      const user = userInfo().username;
      const { identityFile } = cluster;
      profile = {
        name: 'many',
        kind: 'ssh',
        hosts: cluster.hosts.map(({ address }) => ({
          host: address,
          user,
          identityFile,
          proxyJump: `${user}@${cluster.jumpAddress}`,
        })),
      };
      const questions = new Questions({
        secret: () => Promise.reject(new Error('a secret was asked for')),
        trust: () => Promise.reject(new Error('a host key was asked about')),
      });
      const transport = new Ssh2Transport({
        prompter: questions,
        home,
        configFile: cluster.sshConfig,
        logger: nullLogger,
      });
      machine = new SshMachine({ profile, transport, questions, bundleDir });
    });
    afterAll(async () => {
      machine.dispose();
      await cluster.stop();
      rmSync(home, { recursive: true, force: true });
    });

    it('are all connected with one authentication each, and answer', async () => {
      const started = performance.now();
      await machine.connectAll();
      const connected = (performance.now() - started) / 1000;
      const attempts = cluster.all.map(
        ({ sshd }) =>
          readFileSync(sshd.log, 'utf8').match(/Accepted publickey|Failed publickey/g)?.length ?? 0,
      );
      expect(attempts.reduce((sum, each) => sum + each, 0)).toBe(count + 1);
      const before = performance.now();
      const beforeHosts = withoutHosts();
      const lines: string[] = [];
      const endings = await runOnAll(machine.nodes, ['sh', '-c', 'echo $HOME'], ({ text }) =>
        lines.push(text),
      );
      const answered = withoutHosts() - beforeHosts;
      const all = (performance.now() - before) / 1000;
      process.stdout.write(
        `${count} of ${count} connected in ${connected.toFixed(1)} s, exec on all in ${all.toFixed(1)} s, ${answered.toFixed(1)} s without what the hosts computed\n`,
      );
      expect(endings.filter(({ code }) => code === 0)).toHaveLength(count);
      expect(lines.sort()).toEqual(cluster.hosts.map((host) => host.home).sort());
      expect(connected).toBeLessThan(connectLimit);
      expect(answered).toBeLessThan(execLimit);
    });

    it('get files that pass the jump host once', async () => {
      const data = join(home, 'data');
      writeFileSync(data, randomBytes(4_000_000));
      const sent = vi.spyOn(Bootstrap.prototype, 'input');
      const before = performance.now();
      expect(await machine.copy(machine.nodes, data, nodePath('~/data'))).toBe(1);
      process.stdout.write(
        `4 MB on ${count} hosts in ${((performance.now() - before) / 1000).toFixed(1)} s\n`,
      );
      expect(sent).toHaveBeenCalledTimes(1);
      for (const host of cluster.hosts) {
        expect(readFileSync(join(host.home, 'data')).equals(readFileSync(data))).toBe(true);
      }
    });

    it('reach the ports of one another, which this machine does not', async () => {
      // One kernel holds the neighbours of all namespaces: by default 1024, and 32 hosts have 992.
      const some = machine.nodes.slice(0, 16);
      const before = performance.now();
      const results = await withChannels(some, (asked) => checkPorts(profile, asked));
      process.stdout.write(
        `each of ${some.length} tried all others in ${((performance.now() - before) / 1000).toFixed(1)} s\n`,
      );
      // One of each host, one of this machine, one of the head and its own address.
      expect(results.map(({ name }) => name).filter((name) => name !== 'ports')).toEqual([
        'head port',
        'head address',
      ]);
      expect(results).toHaveLength(some.length + 2);
      expect(results[0]?.detail).toMatch(/^port 47\d{3} cannot be reached from this machine at /);
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
    });
  },
);
