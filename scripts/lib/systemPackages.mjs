// Packages of the system, which root or sudo installs by apt.
import { capture, has, run, step } from './shell.mjs';

/** @typedef {{ package: string, present: () => boolean }} SystemPackage */

/**
 * Installs what only the system's package manager can, when root or sudo is there; otherwise says
 * what is missing.
 * @param {readonly SystemPackage[]} wanted
 */
export function ensureSystemPackages(wanted) {
  const missing = wanted.filter((entry) => !entry.present()).map((entry) => entry.package);
  if (missing.length === 0) return;
  const line = `apt-get install -y ${missing.join(' ')}`;
  const prefix =
    process.getuid?.() === 0 ? [] : capture('sudo', ['-n', 'true']).ok ? ['sudo', '-n'] : undefined;
  if (!prefix || !has('apt-get')) throw new Error(`missing system packages. Install them with: sudo ${line}`);
  step(line);
  /** @param {string[]} args */
  const apt = (args) => {
    const [command = 'env', ...rest] = [
      ...prefix,
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      ...args,
    ];
    run(command, rest, { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  apt(['update', '-q']);
  apt(['install', '-y', '-q', '--no-install-recommends', ...missing]);
}
