// Nodes that reach nothing but us and one another: their runtime comes from here. In network
// namespaces, so that they are truly cut off.
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { requestOf } from '../../../src/core/plan/request/request.js';
import { Bootstrap } from '../../../src/core/setup/bootstrap.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { Ssh2Transport } from '../../../src/core/ssh/ssh2/ssh2Transport.js';
import { bundleDir } from '../support/cluster.js';
import { NamespaceCluster, unavailable } from '../../support/namespaces.js';
import { untilOver } from '../../cluster/support/runs.js';

describe.skipIf(unavailable !== undefined)(
  `nodes without internet access (${unavailable ?? 'namespaces'})`,
  () => {
    let cluster: NamespaceCluster;
    let machine: SshMachine;
    let home: string;
    let profile: Profile;
    beforeAll(async () => {
      cluster = await NamespaceCluster.start({ hosts: 2 });
      home = mkdtempSync(join(tmpdir(), 'trainyard-offline-'));
      copyFileSync(cluster.knownHosts, join(home, 'known_hosts'));
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
      profile = {
        name: 'offline',
        kind: 'ssh',
        hosts: cluster.hosts.map(({ address }) => ({
          host: address,
          user: userInfo().username,
          identityFile: cluster.identityFile,
        })),
      };
      machine = new SshMachine({
        profile,
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

    it('get the packages, the first from this machine and the other from the first, and keep none of the way', async () => {
      const told: string[] = [];
      const sent = vi.spyOn(Bootstrap.prototype, 'input');
      const results = await machine.check(profile, { onProgress: (text) => told.push(text) });
      expect(results.filter(({ ok }) => !ok)).toEqual([]);
      expect(results.filter(({ name }) => name === 'trainer')).toHaveLength(2);
      expect(told.join('|')).toContain('waiting for the packages');
      expect(sent).toHaveBeenCalledTimes(1);
      expect(await machine.runTrainer(['devices', '--json'])).toContain('cpu');
      for (const { home } of cluster.hosts) {
        const workdir = join(home, '.trainyard');
        await vi.waitFor(() => {
          expect(readdirSync(join(workdir, 'wheels'))).toEqual([]);
        });
        const [name, ...more] = readdirSync(join(workdir, 'runtime'));
        expect(more).toEqual([]);
        expect(existsSync(join(workdir, 'runtime', name!, 'bin', 'mpiexec'))).toBe(true);
      }
    }, 300_000);

    it('get the packages of an own program too, and what these need', async () => {
      const requirements = join(home, 'requirements.txt');
      writeFileSync(requirements, 'markdown-it-py\n');
      const code = 'import markdown_it, mdurl; print(markdown_it.__version__, mdurl.__version__)';
      const words = ['python3', '-c', code];
      const told: string[] = [];
      const { dir } = await machine.start(requestOf({ profile, words, cwd: home, ranks: 2, requirements }), {
        onProgress: (text) => told.push(text),
      });
      expect(told.join('|')).toContain('fetching packages on this machine');
      const ended = await untilOver(machine, dir);
      expect(ended.state).toMatchObject({ phase: 'finished', reason: null });
      const [markdown = '', mdurl = ''] = ended.run?.environment?.packages ?? [];
      const line = `${markdown.replace('markdown-it-py==', '')} ${mdurl.replace('mdurl==', '')}\n`;
      const outputs = [0, 1].map((rank) => readFileSync(join(dir, `logs/rank-${rank}.log`), 'utf8'));
      expect(outputs).toEqual([line, line]);
      for (const { home } of cluster.hosts) {
        await vi.waitFor(() => {
          expect(readdirSync(join(home, '.trainyard', 'wheels'))).toEqual([]);
        });
      }
    }, 300_000);

    it('get the packages of a lock file, whose hashes are compared here and there', async () => {
      const requirements = join(home, 'pylock.toml');
      const hash = '4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274';
      const wheel = `{ url = "https://example.org/six.whl", hashes = { sha256 = "${hash}" } }`;
      const text = `lock-version = "1.0"
created-by = "test"
packages = [
  { name = "six", version = "1.17.0", marker = "sys_platform == 'linux'", wheels = [${wheel}] },
  { name = "colorama", version = "0.4.6", marker = "sys_platform == 'win32'", wheels = [${wheel}] },
]
`;
      writeFileSync(requirements, text);
      const words = ['python3', '-c', 'import six; print(six.__version__)'];
      const { dir } = await machine.start(requestOf({ profile, words, cwd: home, ranks: 2, requirements }));
      const ended = await untilOver(machine, dir);
      expect(ended.state).toMatchObject({ phase: 'finished', reason: null });
      expect(ended.run?.environment).toMatchObject({ packages: ['six==1.17.0'], hashed: true });
    }, 300_000);
  },
);
