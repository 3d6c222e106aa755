// Servers whose user has a password, without a change to this machine's own list.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Sshd } from '../../../scripts/practice/sshd.mjs';

export const passwordOptions = ['PermitRootLogin yes', 'PasswordAuthentication yes'];

/** A list of passwords in which the user has one. */
function shadow(password: string, expired = false): string {
  const hash = execFileSync('openssl', ['passwd', '-6', '-stdin'], { input: password, encoding: 'utf8' });
  return `${userInfo().username}:${hash.trim()}:19000:0:${expired ? 1 : 99999}:7:::\n`;
}

/** Gives the user a password, for this server alone. */
export function setPassword(server: Sshd, password: string, { expired = false } = {}): void {
  writeFileSync(join(dirname(server.log), `shadow-${server.port}`), shadow(password, expired));
}

/** PAM with rules and a list of passwords of its own, by mounts that only this server sees. */
export function pamPrefix(dir: string, password: string): string[] {
  const folder = join(dir, 'pam.d');
  mkdirSync(folder);
  const rules = [
    'auth required pam_unix.so',
    'account required pam_permit.so',
    'session required pam_permit.so',
  ];
  for (const name of ['sshd', 'other']) writeFileSync(join(folder, name), `${rules.join('\n')}\n`);
  const list = join(dir, 'shadow');
  writeFileSync(list, shadow(password), { mode: 0o600 });
  const mounts = `mount --bind '${folder}' /etc/pam.d && mount --bind '${list}' /etc/shadow`;
  return ['unshare', '-m', 'sh', '-c', `${mounts} && exec "$@"`, 'sh'];
}
