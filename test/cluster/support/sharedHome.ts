// Nodes with one home, as on clusters whose home folders come from a file server: each has
// processes, a name and a boot of its own. Needs root.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ensureKey, startSshd, type Sshd } from '../../../scripts/practice/sshd.mjs';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { freePort } from '../../sshd/support/hosts.js';
import { TcpProxy } from '../../sshd/support/tcpProxy.js';
import { endAllOf, FaultHosts, linkRuntime, oneMachine } from './hosts.js';

const bootId = '/proc/sys/kernel/random/boot_id';

/**
 * Becomes a command on a node of this name and boot, whose processes the other nodes do not see.
 */
const onNode = (name: string, boot: string): string[] => [
  ...['unshare', '--pid', '--fork', '--kill-child', '--mount', '--uts', 'sh', '-ec'],
  `mount -t proc proc /proc; hostname "$0"; mount --bind "$1" ${bootId}; shift; exec "$@"`,
  ...[name, boot],
];

/** Why there can be no such nodes here; undefined where there can. */
export const unavailable: string | undefined = (() => {
  if (userInfo().uid !== 0) return 'nodes with a home in common need root';
  const words = [...onNode('probe', '/dev/null'), 'true'];
  const { status, stderr } = spawnSync('env', words, { encoding: 'utf8' });
  return status === 0 ? undefined : `unshare is not possible here: ${stderr.trim()}`;
})();

export interface SharedHome {
  hosts: FaultHosts;
  home: string;
  links: readonly TcpProxy[];
}

/** gpu1 and on, at 127.0.0.2 and on, behind links of their own. */
export async function sharedHome(nodes: number): Promise<SharedHome> {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-shared-'));
  const home = join(dir, 'home');
  linkRuntime(join(home, '.trainyard'));
  const identityFile = join(dir, 'key');
  ensureKey(identityFile, 'test');
  const authorizedKey = readFileSync(`${identityFile}.pub`, 'utf8');
  const servers: Sshd[] = [];
  const links: TcpProxy[] = [];
  const end = async (): Promise<void> => {
    await Promise.all(links.map((link) => link.stop()));
    await Promise.all(servers.map((server) => server.stop()));
    await endAllOf(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  };
  try {
    const known: string[] = [];
    for (let index = 0; index < nodes; ++index) {
      const address = `127.0.0.${index + 2}`;
      const name = `gpu${index + 1}`;
      const stateDir = join(dir, name);
      mkdirSync(stateDir);
      const boot = join(stateDir, 'boot_id');
      writeFileSync(boot, `${randomUUID()}\n`);
      const port = await freePort(address);
      const server = await startSshd({
        ...{ address, port, home, stateDir, authorizedKey, prefix: onNode(name, boot) },
      });
      servers.push(server);
      const link = await TcpProxy.start({ host: address, port }, {}, address);
      links.push(link);
      known.push(`[${address}]:${link.port} ${server.hostKey}\n`);
    }
    const trainyardHome = join(dir, 'trainyard');
    mkdirSync(trainyardHome, { mode: 0o700 });
    writeFileSync(join(trainyardHome, 'known_hosts'), known.join(''));
    const user = userInfo().username;
    const profile: Profile = {
      name: 'shared',
      kind: 'ssh',
      hosts: links.map(({ port }, index) => ({
        ...{ host: `127.0.0.${index + 2}`, port, user, slots: 1, identityFile },
      })),
      interface: 'lo',
      portRange: '47100-47199',
      env: oneMachine,
    };
    return { hosts: new FaultHosts(profile, trainyardHome, [home], end), home, links };
  } catch (error) {
    await end();
    throw error;
  }
}
