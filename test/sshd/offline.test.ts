// A node that reaches nothing but us: its runtime comes from here. In a network namespace, so that it is truly cut off.
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Questions } from '../../src/core/clusters/retry.js';
import { SshMachine } from '../../src/core/clusters/sshMachine.js';
import { nullLogger } from '../../src/core/log.js';
import { Ssh2Transport } from '../../src/core/ssh/ssh2Transport.js';
import { bundleDir } from './cluster.js';
import { NamespaceCluster, unavailable } from './namespaces.js';

describe.skipIf(unavailable !== undefined)(
  `a node without internet access (${unavailable ?? 'namespaces'})`,
  () => {
    let cluster: NamespaceCluster;
    let machine: SshMachine;
    let home: string;
    beforeAll(async () => {
      cluster = await NamespaceCluster.start({ hosts: 1 });
      home = mkdtempSync(join(tmpdir(), 'trainyard-offline-'));
      copyFileSync(cluster.knownHosts, join(home, 'known_hosts'));
      const [host] = cluster.hosts;
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
      machine = new SshMachine({
        profile: {
          name: 'offline',
          kind: 'ssh',
          hosts: [{ host: host!.address, user: userInfo().username, identityFile: cluster.identityFile }],
        },
        transport,
        questions,
        bundleDir,
      });
    });
    afterAll(async () => {
      machine.dispose();
      await cluster.stop();
      rmSync(home, { recursive: true, force: true });
    });

    it('gets the packages from this machine, and keeps none of the way', async () => {
      const told: string[] = [];
      const runtime = await machine.runtime({ onProgress: (text) => told.push(text) });
      expect(told.join('|')).toContain('sending the packages');
      const workdir = join(cluster.hosts[0]!.home, '.trainyard');
      expect(runtime.runtimeDir.startsWith(workdir)).toBe(true);
      expect(existsSync(runtime.mpiexec)).toBe(true);
      expect(await machine.runTrainer(['devices', '--json'])).toContain('cpu');
      expect(readdirSync(join(workdir, 'wheels'))).toEqual([]);
      expect(readdirSync(join(workdir, 'runtime')).filter((name) => name.startsWith('.'))).toEqual([]);
    }, 180_000);
  },
);
