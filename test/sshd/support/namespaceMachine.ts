// Hosts in namespaces as the core sees them: keys are known, and nobody is there to answer.
import { copyFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { nullLogger } from '../../../src/core/base/log.js';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { LazyTransport } from '../../../src/core/ssh/lazyTransport.js';
import type { NamespaceCluster, NamespaceHost } from '../../support/namespaces.js';
import { bundleDir } from './cluster.js';

/** A profile of these hosts, or of all, with one slot each. */
export function namespaceProfile(
  cluster: NamespaceCluster,
  name: string,
  hosts: readonly NamespaceHost[] = cluster.hosts,
): Profile {
  const user = userInfo().username;
  const { identityFile } = cluster;
  return {
    ...{ name, kind: 'ssh' },
    hosts: hosts.map(({ address }) => ({ host: address, user, slots: 1, identityFile })),
  };
}

/** `home`: a TRAINYARD_HOME, in which the hosts' keys are known from now on. */
export function namespaceMachine(cluster: NamespaceCluster, profile: Profile, home: string): SshMachine {
  copyFileSync(cluster.knownHosts, join(home, 'known_hosts'));
  const questions = new Questions({
    secret: () => Promise.reject(new Error('a secret was asked for')),
    trust: () => Promise.reject(new Error('a host key was asked about')),
  });
  const transport = new LazyTransport(profile, { prompter: questions, home, logger: nullLogger });
  return new SshMachine({ profile, transport, questions, bundleDir });
}
