// Packages of the system, which root or sudo installs by apt.
import { capture, has, run, step } from './shell.mjs';

/** @typedef {{ package: string, present: () => boolean }} SystemPackage */

/** The words before apt's: none as root, those of sudo, or undefined where neither may install. */
function installer() {
  if (!has('apt-get')) return undefined;
  if (process.getuid?.() === 0) return [];
  return capture('sudo', ['-n', 'true']).ok ? ['sudo', '-n'] : undefined;
}

/**
 * @param {readonly string[]} prefix
 * @param {readonly string[]} packages
 */
function install(prefix, packages) {
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
  apt(['install', '-y', '-q', '--no-install-recommends', ...packages]);
}

/**
 * Installs what only the system's package manager can, when root or sudo is there; otherwise says
 * what is missing.
 * @param {readonly SystemPackage[]} wanted
 */
export function ensureSystemPackages(wanted) {
  const missing = wanted.filter((entry) => !entry.present()).map((entry) => entry.package);
  if (missing.length === 0) return;
  const line = `apt-get install -y ${missing.join(' ')}`;
  const prefix = installer();
  if (!prefix) throw new Error(`missing system packages. Install them with: sudo ${line}`);
  step(line);
  install(prefix, missing);
}

/**
 * The same for a package that is of use, and that not every system has. Without it all goes on.
 * @param {SystemPackage} wanted
 */
export function wishSystemPackage({ package: name, present }) {
  const prefix = present() ? undefined : installer();
  if (!prefix || !capture('apt-cache', ['show', name]).ok) return;
  step(`apt-get install -y ${name}`);
  install(prefix, [name]);
}
