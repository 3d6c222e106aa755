// A practice cluster as the core sees it, for tests: the real transport, keys already known.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startPracticeCluster } from '../../../scripts/practice/practice.mjs';
import type { PracticeCluster, PracticeOptions } from '../../../scripts/practice/practice.mjs';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { nullLogger } from '../../../src/core/base/log.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.js';

export const root = join(import.meta.dirname, '../../..');
export const bundleDir = join(root, 'dist');

/** Nobody is there to answer: every question fails the test. */
const silent = {
  secret: () => Promise.reject(new Error('a secret was asked for')),
  trust: () => Promise.reject(new Error('a host key was asked about')),
};

export interface TestCluster {
  practice: PracticeCluster;
  profile: Profile;
  /** A TRAINYARD_HOME that knows the hosts' keys. */
  home: string;
  machine(more?: Partial<Profile>): SshMachine;
  stop(): Promise<void>;
}

export async function testCluster(dir: string, options: PracticeOptions = {}): Promise<TestCluster> {
  if (!existsSync(join(bundleDir, 'bin', 'agent'))) throw new Error('build first: npm run build');
  const practice = await startPracticeCluster({ dir, ...options });
  const home = join(dir, 'trainyard');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  copyFileSync(practice.knownHosts, join(home, 'known_hosts'));
  const machines: SshMachine[] = [];
  return {
    practice,
    profile: practice.profile,
    home,
    machine: (more = {}) => {
      const profile = { ...practice.profile, ...more };
      const questions = new Questions(silent);
      const transport = new LazyTransport(profile, { prompter: questions, home, logger: nullLogger });
      const machine = new SshMachine({ profile, transport, questions, bundleDir });
      machines.push(machine);
      return machine;
    },
    stop: async () => {
      for (const machine of machines) machine.dispose();
      await practice.stop();
    },
  };
}
