// Hosts for the fault tests: homes of their own, so that nothing here meets a run of somebody else,
// and the practice cluster's runtime by a link, so that it is made once on a machine.
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { startPracticeCluster, type PracticeOptions } from '../../../scripts/practice/practice.mjs';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { nullLogger } from '../../../src/core/base/log.js';
import { cacheFolder } from '../../../src/core/setup/runtime.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { LazyTransport, type TransportOptions } from '../../../src/core/ssh/lazyTransport.js';
import { processesNaming, until } from '../../support/harness.js';
import { NamespaceCluster } from '../../support/namespaces.js';

const root = join(import.meta.dirname, '../../..');
const sharedRuntime = join(cacheFolder(), 'practice/practice-1/home/.trainyard/runtime');

/** The nodes of this machine are one machine. */
export const oneMachine = { OMP_NUM_THREADS: '1' };
const env = oneMachine;

/** Nobody is there to answer: every question fails the test. */
const silent = {
  secret: () => Promise.reject(new Error('a secret was asked for')),
  trust: () => Promise.reject(new Error('a host key was asked about')),
};

export class FaultHosts {
  private readonly machines: SshMachine[] = [];

  constructor(
    readonly profile: Profile,
    /** A TRAINYARD_HOME that knows the hosts' keys and the profile. */
    readonly trainyardHome: string,
    readonly homes: readonly string[],
    private readonly end: () => Promise<void>,
  ) {
    const file = { version: 1, profiles: [profile] };
    writeFileSync(join(trainyardHome, 'profiles.json'), JSON.stringify(file));
  }

  /** `ssh`: in place of the user's own SSH configuration. */
  machine(more: Partial<Profile> = {}, ssh: Pick<TransportOptions, 'configFile'> = {}): SshMachine {
    const profile = { ...this.profile, ...more };
    const questions = new Questions(silent);
    const options = { prompter: questions, home: this.trainyardHome, logger: nullLogger, ...ssh };
    const transport = new LazyTransport(profile, options);
    const bundleDir = join(root, 'dist');
    const machine = new SshMachine({ profile, transport, questions, bundleDir });
    this.machines.push(machine);
    return machine;
  }

  async stop(): Promise<void> {
    for (const machine of this.machines) machine.dispose();
    await this.end();
  }
}

export function linkRuntime(workdir: string): void {
  mkdirSync(sharedRuntime, { recursive: true, mode: 0o700 });
  mkdirSync(workdir, { recursive: true, mode: 0o700 });
  symlinkSync(sharedRuntime, join(workdir, 'runtime'));
}

/** Installs the runtime where no test before did. */
async function prepared(hosts: FaultHosts): Promise<FaultHosts> {
  try {
    await hosts.machine().runtime();
    return hosts;
  } catch (error) {
    await hosts.stop();
    throw error;
  }
}

/**
 * What an agent started detached has an environment of its own, without the mark by which the
 * practice cluster ends the rest.
 */
export async function endAllOf(dir: string): Promise<void> {
  const left = (): number[] => processesNaming(dir).map((line) => Number(line.split(' ')[0]));
  await until(
    `nothing of ${dir} to be left`,
    () => {
      const pids = left();
      for (const pid of pids) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // it went with another one
        }
      }
      return pids.length === 0;
    },
    15,
  );
}

/**
 * Hosts at 127.0.0.2 and on, without root. The first one's key is known at every port of 127.0.0.1
 * too, for ways around.
 */
export async function practiceHosts({
  nodes,
  ...more
}: Pick<PracticeOptions, 'environments'> & { nodes: number }): Promise<FaultHosts> {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-faults-'));
  for (let index = 1; index <= nodes; ++index)
    linkRuntime(join(dir, `practice-${index}`, 'home', '.trainyard'));
  const practice = await startPracticeCluster({ dir, nodes, ...more });
  const end = async (): Promise<void> => {
    await practice.stop();
    await endAllOf(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  };
  const trainyardHome = join(dir, 'trainyard');
  mkdirSync(trainyardHome, { mode: 0o700 });
  const known = join(trainyardHome, 'known_hosts');
  copyFileSync(practice.knownHosts, known);
  appendFileSync(known, `[127.0.0.1]:* ${practice.nodes[0]?.hostKey ?? ''}\n`);
  const homes = practice.nodes.map(({ home }) => home);
  return prepared(new FaultHosts({ ...practice.profile, env }, trainyardHome, homes, end));
}

/**
 * Hosts with networks of their own, whose links can be cut. Needs root. `disk`: a folder that all
 * of them see as `~/.trainyard`, as one of a file server.
 */
export async function separateHosts(
  count: number,
  disk?: string,
): Promise<{ hosts: FaultHosts; network: NamespaceCluster }> {
  if (disk !== undefined) linkRuntime(disk);
  const mount =
    disk === undefined ? undefined : `mkdir "$1/.trainyard"; mount --bind ${disk} "$1/.trainyard"`;
  const mounts = Array.from({ length: count }, () => mount);
  const network = await NamespaceCluster.start({ hosts: count, mounts });
  if (disk === undefined) for (const { home } of network.hosts) linkRuntime(join(home, '.trainyard'));
  const trainyardHome = mkdtempSync(join(tmpdir(), 'trainyard-faults-'));
  copyFileSync(network.knownHosts, join(trainyardHome, 'known_hosts'));
  const user = userInfo().username;
  const { identityFile } = network;
  const profile: Profile = {
    name: 'apart',
    kind: 'ssh',
    hosts: network.hosts.map(({ address }) => ({ host: address, user, slots: 1, identityFile })),
    interface: 'eth0',
    env,
  };
  const end = async (): Promise<void> => {
    await network.stop();
    rmSync(trainyardHome, { recursive: true, force: true });
  };
  const homes = network.hosts.map(({ home }) => home);
  return { hosts: await prepared(new FaultHosts(profile, trainyardHome, homes, end)), network };
}
