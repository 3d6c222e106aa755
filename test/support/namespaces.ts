// Hosts as network namespaces on a bridge, a real sshd in each; one of them may be the jump host,
// which alone the client reaches. Needs root. Names carry the pid of this process, so that what a
// killed one left is found and removed.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ensureKey, startSshd } from '../../scripts/practice/sshd.mjs';
import type { Sshd } from '../../scripts/practice/sshd.mjs';

const prefix = 'ty';
const ours = new RegExp(`^${prefix}(\\d+)-`);

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function quietly(...args: string[]): boolean {
  try {
    ip(...args);
    return true;
  } catch {
    return false; // the caller looks at what is there afterwards, or tries another
  }
}

const namespaces = (): string[] =>
  ip('netns', 'list')
    .split('\n')
    .flatMap((line) => line.split(' ')[0] ?? [])
    .filter((name) => ours.test(name));

/** Of all processes on a host. */
export const pidsIn = (namespace: string): number[] =>
  ip('netns', 'pids', namespace).split('\n').filter(Boolean).map(Number);

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function removeNamespace(name: string): void {
  for (const pid of pidsIn(name)) killed(pid);
  ip('netns', 'delete', name);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What test processes left that did not live to clean up. */
export function removeLeftovers(): void {
  for (const name of namespaces()) if (!isAlive(Number(ours.exec(name)?.[1]))) removeNamespace(name);
}

/** Why there can be no namespaces here; undefined where there can. */
export const unavailable: string | undefined = (() => {
  if (userInfo().uid !== 0) return 'network namespaces need root';
  const probe = `${prefix}${process.pid}-probe`;
  if (!quietly('netns', 'add', probe)) return 'ip netns is not possible here';
  const bridged = quietly('-n', probe, 'link', 'add', 'br0', 'type', 'bridge');
  quietly('netns', 'delete', probe);
  return bridged ? undefined : 'this kernel has no bridges';
})();

export interface NamespaceOptions {
  hosts: number;
  /** Puts a jump host in front; these lines stand first in its sshd_config. */
  jump?: string[];
  /** First in the sshd_config of every other host. */
  extraConfig?: string[];
  shell?: string;
  /** The same of one host alone, in their order. */
  configs?: readonly (string[] | undefined)[];
  /** For the sessions of each host, in their order. */
  environments?: readonly (Record<string, string> | undefined)[];
  /**
   * What `sh` runs among the mounts of each host before its sshd, in their order; $1 is its home.
   */
  mounts?: readonly (string | undefined)[];
}

export interface NamespaceHost {
  name: string;
  /** Among the hosts. */
  address: string;
  namespace: string;
  home: string;
  /** Another one after `powerOn`. */
  sshd: Sshd;
}

interface Wiring {
  id: string;
  /**
   * The third number of its addresses, 198.18.N.x among the hosts and 198.19.N.x to the client:
   * ranges set aside for tests.
   */
  net: number;
}

const port = 22;

function wire(wiring: Wiring, hosts: number, jump: boolean): void {
  const { id, net } = wiring;
  const lan = `${id}-lan`;
  ip('netns', 'add', lan);
  ip('-n', lan, 'link', 'add', 'br0', 'type', 'bridge');
  ip('-n', lan, 'link', 'set', 'br0', 'up');
  for (let index = 0; index < hosts; ++index) {
    const host = `${id}-h${index}`;
    ip('netns', 'add', host);
    ip('-n', host, 'link', 'set', 'lo', 'up');
    ip('-n', host, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', `p${index}`, 'netns', lan);
    ip('-n', lan, 'link', 'set', `p${index}`, 'master', 'br0', 'up');
    ip('-n', host, 'addr', 'add', `198.18.${net}.${index + 10}/24`, 'dev', 'eth0');
    ip('-n', host, 'link', 'set', 'eth0', 'up');
  }
  // The client's end lies in this process's own namespace; it goes with its peer.
  const end = jump ? `${id}-h0` : lan;
  ip('-n', end, 'link', 'add', 'up0', 'type', 'veth', 'peer', 'name', id, 'netns', String(process.pid));
  if (jump) ip('-n', end, 'addr', 'add', `198.19.${net}.2/24`, 'dev', 'up0');
  else ip('-n', end, 'link', 'set', 'up0', 'master', 'br0');
  ip('-n', end, 'link', 'set', 'up0', 'up');
  ip('addr', 'add', `${jump ? '198.19' : '198.18'}.${net}.1/24`, 'dev', id);
  ip('link', 'set', id, 'up');
  // What is sent to a host directly must not leave this machine by its default route.
  if (jump) ip('route', 'add', `198.18.${net}.0/24`, 'dev', id);
}

/** A cluster of hosts apart from everything else on this machine. */
export class NamespaceCluster {
  private constructor(
    private readonly wiring: Wiring,
    private readonly dir: string,
    private readonly jumped: boolean,
    readonly identityFile: string,
    readonly knownHosts: string,
    /** For `ssh -F`: the key and the known hosts, also for the way to a jump host. */
    readonly sshConfig: string,
    /** Host 0 is the jump host where there is one. */
    readonly all: readonly NamespaceHost[],
  ) {}

  static async start(options: NamespaceOptions): Promise<NamespaceCluster> {
    const { hosts, jump, extraConfig, shell, configs = [], environments = [], mounts = [] } = options;
    removeLeftovers();
    const jumped = jump !== undefined;
    const count = hosts + (jumped ? 1 : 0);
    const taken = ip('route', 'show');
    // Two processes that look at the same moment begin at different numbers.
    const net = Array.from({ length: 250 }, (_, n) => (n + process.pid) % 250).find(
      (n) => !taken.includes(`198.18.${n}.`) && !taken.includes(`198.19.${n}.`),
    );
    if (net === undefined) throw new Error('no test network is free');
    const wiring = { id: `${prefix}${process.pid}-${net}`, net };
    const dir = mkdtempSync(join(tmpdir(), 'trainyard-hosts-'));
    const identityFile = join(dir, 'id_ed25519');
    const knownHosts = join(dir, 'known_hosts');
    const sshConfig = join(dir, 'ssh_config');
    const lines = [`IdentityFile ${identityFile}`, `UserKnownHostsFile ${knownHosts}`, 'BatchMode yes'];
    writeFileSync(sshConfig, [...lines, 'ConnectTimeout 4', ''].join('\n'));
    const all: NamespaceHost[] = [];
    const cluster = new NamespaceCluster(wiring, dir, jumped, identityFile, knownHosts, sshConfig, all);
    try {
      ensureKey(identityFile, 'test');
      const authorizedKey = readFileSync(`${identityFile}.pub`, 'utf8');
      wire(wiring, count, jumped);
      for (let index = 0; index < count; ++index) {
        const name = jumped ? (index === 0 ? 'jump' : `host${index}`) : `host${index + 1}`;
        const namespace = `${wiring.id}-h${index}`;
        const home = join(dir, name, 'home');
        mkdirSync(home, { recursive: true });
        const environment = environments[index];
        const mount = mounts[index];
        const sshd = await startSshd({
          ...{ address: '0.0.0.0', port, home, stateDir: join(dir, name, 'sshd'), authorizedKey },
          extraConfig: [...(configs[index] ?? []), ...((jumped && index === 0 ? jump : extraConfig) ?? [])],
          prefix: [
            ...['ip', 'netns', 'exec', namespace],
            ...(mount === undefined ? [] : ['sh', '-ec', `${mount}; shift; exec "$@"`, 'sh', home]),
          ],
          ...(environment === undefined ? {} : { environment }),
          ...(shell === undefined ? {} : { shell }),
        });
        all.push({ name, address: `198.18.${net}.${index + 10}`, namespace, home, sshd });
      }
      cluster.writeKnownHosts();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get jump(): NamespaceHost | undefined {
    return this.jumped ? this.all[0] : undefined;
  }

  /** Those behind the jump host, or all. */
  get hosts(): readonly NamespaceHost[] {
    return this.jumped ? this.all.slice(1) : this.all;
  }

  /** How the client reaches the jump host. */
  get jumpAddress(): string {
    return `198.19.${this.wiring.net}.2`;
  }

  /** From now on nothing passes between this host and the others, and nobody is told. */
  cut(host: NamespaceHost): void {
    this.setPort(host, 'down');
  }

  heal(host: NamespaceHost): void {
    this.setPort(host, 'up');
    this.forgetNeighbours();
  }

  /** Everything on it dies, and nobody is told. */
  powerOff(host: NamespaceHost): void {
    this.cut(host);
    for (let pids = pidsIn(host.namespace); pids.length > 0; pids = pidsIn(host.namespace)) {
      for (const pid of pids) killed(pid);
    }
  }

  /** It is there again, with a boot id of its own, and nothing on it but its sshd and its disk. */
  async powerOn(host: NamespaceHost): Promise<void> {
    const bootId = join(host.home, '..', `boot-${randomUUID()}`);
    writeFileSync(bootId, `${randomUUID()}\n`);
    const mount = 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"'; // in the mounts of `ip netns exec`
    const prefix = ['ip', 'netns', 'exec', host.namespace, 'sh', '-c', mount, 'sh', bootId];
    const authorizedKey = readFileSync(`${this.identityFile}.pub`, 'utf8');
    const { home } = host;
    const stateDir = join(home, '..', 'sshd');
    host.sshd = await startSshd({ address: '0.0.0.0', port, home, stateDir, authorizedKey, prefix });
    this.heal(host);
  }

  /** The same between the client and all hosts. */
  cutClient(): void {
    ip('-n', this.clientEnd(), 'link', 'set', 'up0', 'down');
  }

  healClient(): void {
    const end = this.clientEnd();
    ip('-n', end, 'link', 'set', 'up0', 'up');
    ip('neigh', 'flush', 'dev', this.wiring.id);
    this.forgetNeighbours();
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map(({ sshd }) => sshd.stop()));
    for (const name of namespaces()) if (name.startsWith(`${this.wiring.id}-`)) removeNamespace(name);
    quietly('link', 'delete', this.wiring.id); // the kernel takes a moment to remove it by itself
    rmSync(this.dir, { recursive: true, force: true });
  }

  private clientEnd(): string {
    return `${this.wiring.id}-${this.jumped ? 'h0' : 'lan'}`;
  }

  private setPort(host: NamespaceHost, state: 'up' | 'down'): void {
    ip('-n', `${this.wiring.id}-lan`, 'link', 'set', `p${this.all.indexOf(host)}`, state);
  }

  /** Else what was found unreachable is taken for that for some seconds more. */
  private forgetNeighbours(): void {
    for (const { namespace } of this.all) ip('-n', namespace, 'neigh', 'flush', 'all');
  }

  private writeKnownHosts(): void {
    const lines = this.all.map(({ address, sshd }) => `${address} ${sshd.hostKey}\n`);
    if (this.jumped) lines.push(`${this.jumpAddress} ${this.all[0]?.sshd.hostKey ?? ''}\n`);
    writeFileSync(this.knownHosts, lines.join(''));
  }
}
