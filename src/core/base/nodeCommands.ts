// The commands that mend what a check found on a node.
import type { CommandRemedy } from './remedy.js';

const asRoot = (purpose: string, command: string, onNextLogin = false): CommandRemedy => ({
  kind: 'runCommand',
  ...{ purpose, command, asRoot: true, onNextLogin },
});

/** Gives an interface another MTU, in bytes, until the node starts anew. */
export const setMtu = (device: string, mtu: string): CommandRemedy =>
  asRoot('Give all nodes one MTU', `ip link set dev ${device} mtu ${mtu}`);

/**
 * Makes /dev/shm half as large as the memory, until the node starts anew. `isThere`: it is mounted.
 */
export const growShm = (isThere: boolean): CommandRemedy =>
  asRoot(
    'Ranks of one node exchange data there, and a container gets its size when it is started',
    isThere
      ? 'mount -o remount,size=50% /dev/shm'
      : 'mkdir -p /dev/shm && mount -t tmpfs -o size=50%,mode=1777 tmpfs /dev/shm',
  );

/** Lets the system keep its clock by the network's time. */
export const synchroniseClock = asRoot(
  'Its log times mislead, and signed downloads may fail',
  'timedatectl set-ntp true',
);

/** Raises a limit of every user, root too. `item` and `value` as in limits.conf(5). */
export function raiseLimit(item: string, value: string): CommandRemedy {
  const lines = ['*', 'root'].map((user) => `${user} - ${item} ${value}\\n`).join('');
  const file = `/etc/security/limits.d/90-trainyard-${item}.conf`;
  return asRoot('The limit counts from the next login', `printf '${lines}' > ${file}`, true);
}

/** Debian's and Ubuntu's package, or that of Fedora and its kin. */
export const installLibgomp = asRoot(
  'Install the library of OpenMP',
  'if command -v apt-get >/dev/null; then apt-get install -y libgomp1; else dnf install -y libgomp; fi',
);

/** Keeps processes of the user that logs in, where the site lets users choose so. */
export const keepProcesses: CommandRemedy = {
  kind: 'runCommand',
  purpose: 'Keep your processes after a logout',
  command: 'loginctl enable-linger',
  asRoot: false,
  onNextLogin: false,
};
