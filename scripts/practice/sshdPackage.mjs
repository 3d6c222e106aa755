// Where sshd comes from: the system, or Debian's packages fetched and unpacked without installing
// them.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { triplet, unpackPackage } from '../lib/debPackages.mjs';
import { cache } from '../lib/paths.mjs';
import { capture, has, step } from '../lib/shell.mjs';

/**
 * `wrapper` lets one sshd see another home and shell for the user. `helpers` are options that name
 * programs which newer versions start.
 * @typedef {{
 *   path: string,
 *   libraries: string[],
 *   wrapper: string | undefined,
 *   helpers: [option: string, path: string][],
 * }} SshdProgram
 */

const installed = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/sbin/sshd'];
/** @param {string} root */
const libraryFolders = (root) =>
  ['usr/lib', 'lib'].map((folder) => join(root, folder, triplet)).filter((folder) => existsSync(folder));
/** Lets one sshd see a home and a shell of its own for the user. Another system may do without. */
const wrapperPackage = 'libnss-wrapper';
const serverPackage = 'openssh-server';

/** @param {string} name */
function candidate(name) {
  return /Candidate: ([^\s(]+)/.exec(capture('apt-cache', ['policy', name]).stdout)?.[1];
}

/** @param {string} name */
function candidateAfterUpdate(name) {
  if (!has('apt-get') || !has('dpkg')) return undefined;
  const found = candidate(name);
  if (found !== undefined || process.getuid?.() !== 0) return found;
  capture('apt-get', ['update', '-q']); // what it says shows in whether there is a candidate afterwards
  return candidate(name);
}

/**
 * @param {string} program
 * @param {string} root
 */
function missingLibraries(program, root) {
  const env = { ...process.env, LD_LIBRARY_PATH: libraryFolders(root).join(':') };
  const lines = capture('ldd', [program], { env }).stdout.split('\n');
  return lines.filter((line) => line.includes('not found')).map((line) => line.trim().split(' ')[0] ?? '');
}

/**
 * Debian names a library's package after it: libwrap.so.0 is in libwrap0, libfoo2.so.1 in
 * libfoo2-1.
 * @param {string} library
 */
function packagesOf(library) {
  const [, stem = library, version = ''] = /^(.+)\.so\.(\d+)/.exec(library) ?? [];
  const name = `${stem}${/\d$/.test(stem) ? '-' : ''}${version}`.toLowerCase().replaceAll('_', '-');
  return /** @type {const} */ ([name, `${name}t64`]);
}

/** @param {string} root */
function unpackServer(root) {
  step('sshd from Debian, unpacked without installing it (3 MB, once)');
  unpackPackage([serverPackage], root);
  const program = join(root, 'usr/sbin/sshd');
  // A library that comes may want another.
  for (let missing = missingLibraries(program, root); missing.length > 0;) {
    for (const library of missing) unpackPackage(packagesOf(library), root);
    const last = missing;
    missing = missingLibraries(program, root);
    if (missing.join() === last.join())
      throw new Error(`sshd needs ${missing.join(', ')}. Install the package ${serverPackage}.`);
  }
}

/**
 * @param {string} folder
 * @param {boolean} server
 */
function make(folder, server) {
  const temporary = `${folder}.partial-${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  try {
    if (server) unpackServer(temporary);
    unpackPackage([wrapperPackage], temporary);
    if (!existsSync(folder)) renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * What was unpacked before serves again; a newer one comes when its folder is removed.
 * @param {string} parent
 * @param {string} prefix
 */
function kept(parent, prefix) {
  const names = existsSync(parent) ? readdirSync(parent) : [];
  return names
    .filter((name) => name.startsWith(prefix) && !name.includes('.partial-'))
    .sort()
    .at(-1);
}

/**
 * @param {string} prefix
 * @param {string} asked
 */
function nameOfCandidate(prefix, asked) {
  const version = candidateAfterUpdate(asked)?.replace(/[^\w.+~-]/g, '_');
  return version && `${prefix}${version}`;
}

/**
 * Its path, and what it needs to run from there.
 * @returns {SshdProgram}
 */
export function findSshd() {
  const own = installed.find((path) => existsSync(path));
  const [prefix, asked] = own ? ['wrapper-', wrapperPackage] : ['openssh-', serverPackage];
  const parent = join(cache, 'sshd');
  const name = kept(parent, prefix) ?? nameOfCandidate(prefix, asked);
  if (name === undefined) {
    if (own) return { path: own, libraries: [], wrapper: undefined, helpers: [] };
    throw new Error('sshd was not found and apt has no openssh-server. Install the package openssh-server.');
  }
  const root = join(parent, name);
  if (!existsSync(root)) {
    mkdirSync(dirname(root), { recursive: true });
    make(root, !own);
  }
  const folders = libraryFolders(root);
  /** @type {[option: string, path: string][]} */
  const helpers = [
    ['SshdSessionPath', join(root, 'usr/lib/openssh/sshd-session')],
    ['SshdAuthPath', join(root, 'usr/lib/openssh/sshd-auth')],
  ];
  return {
    path: own ?? join(root, 'usr/sbin/sshd'),
    libraries: own ? [] : folders,
    wrapper: folders.map((folder) => join(folder, 'libnss_wrapper.so')).find((path) => existsSync(path)),
    helpers: own ? [] : helpers.filter(([, path]) => existsSync(path)), // OpenSSH 9.8 and later
  };
}
