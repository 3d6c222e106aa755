// A real sshd without root: the system's own, else Debian's openssh-server unpacked into the user's
// cache, where it enables no service. Each one has a host key, a configuration and a home of its
// own.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { descendants, endProcesses, marked, signalled } from './processTree.mjs';
import { capture, has } from '../lib/shell.mjs';
import { findSshd } from './sshdPackage.mjs';

/** @import { ChildProcess } from 'node:child_process' */
/** @import { SshdProgram } from './sshdPackage.mjs' */

/**
 * - `stateDir`: host key, configuration and log; a folder used again keeps its host key.
 * - `authorizedKey`: one public key a line.
 * - `shell`: the login shell, when it is not the user's own.
 * - `extraConfig`: lines of sshd_config that stand before the others, so theirs are the values that
 *   count.
 * - `environment`: for every session.
 * - `prefix`: what the command line begins with, for example `ip netns exec NAME`.
 * @typedef {{
 *   address: string,
 *   port: number,
 *   home: string,
 *   stateDir: string,
 *   authorizedKey: string,
 *   shell?: string | undefined,
 *   extraConfig?: string[] | undefined,
 *   environment?: Record<string, string> | undefined,
 *   prefix?: string[],
 * }} SshdOptions
 */

/**
 * `hostKeyFingerprint` is SHA256:…, `hostKey` as a line of `.pub`.
 * @typedef {{
 *   address: string,
 *   port: number,
 *   pid: number,
 *   log: string,
 *   hostKeyFingerprint: string,
 *   hostKey: string,
 *   stop: () => Promise<void>,
 * }} Sshd
 */

const passedOn =
  /^(PATH|LANG|PIP_.+|SSL_CERT_FILE|SSL_CERT_DIR|https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY)$/;
const markName = 'PRACTICE_SSHD'; // not of those that the agent takes out of an environment: what it starts detached ends too

/**
 * Its path and what it needs in its environment. An error names the Debian package that is missing.
 */
export function ensureSshd() {
  if (process.platform !== 'linux')
    throw new Error('sshd for tests and practice needs Linux. Use a Linux machine.');
  for (const tool of ['ssh', 'ssh-keygen'])
    if (!has(tool)) throw new Error(`${tool} was not found. Install the package openssh-client.`);
  return findSshd();
}

/**
 * Makes a key pair without a passphrase unless it is there, and returns its fingerprint.
 * @param {string} path
 * @param {string} comment
 */
export function ensureKey(path, comment) {
  if (!existsSync(path)) {
    const made = capture('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', path]);
    if (!made.ok) throw new Error(`ssh-keygen cannot make ${path}: ${made.stderr.trim()}`);
  }
  const shown = capture('ssh-keygen', ['-lf', `${path}.pub`]);
  if (!shown.ok) throw new Error(`ssh-keygen cannot read ${path}.pub: ${shown.stderr.trim()}`);
  return shown.stdout.split(' ')[1] ?? '';
}

/** @param {string} text */
const quoted = (text) => `"${text.replace(/[\\"]/g, '\\$&')}"`;

/**
 * sshd takes the first value of most options, so `extraConfig` stands before ours.
 * @param {SshdProgram} sshd
 * @param {Omit<SshdOptions, 'authorizedKey' | 'shell' | 'prefix'> & { hostKey: string, keys: string, mark: string }} options
 */
function configuration(
  sshd,
  { address, port, stateDir, home, hostKey, keys, mark, extraConfig, environment },
) {
  const inherited = Object.entries(process.env).filter(
    ([name, value]) => passedOn.test(name) && !value?.includes('\n'),
  );
  const set = { ...Object.fromEntries(inherited), HOME: home, [markName]: mark, ...environment };
  return [
    ...(extraConfig ?? []),
    `ListenAddress ${address}:${port}`,
    `HostKey ${quoted(hostKey)}`,
    `PidFile ${quoted(join(stateDir, `sshd-${port}.pid`))}`,
    `AuthorizedKeysFile ${quoted(keys)}`,
    'AuthenticationMethods publickey',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'UsePAM no',
    'UseDNS no',
    'StrictModes no', // the folder may stand below one that others can write
    'PrintMotd no',
    'MaxSessions 10',
    'AllowTcpForwarding yes',
    'AllowStreamLocalForwarding yes',
    'StreamLocalBindUnlink yes',
    'Subsystem sftp internal-sftp',
    'LogLevel VERBOSE',
    ...sshd.helpers.map(([option, path]) => `${option} ${quoted(path)}`),
    `SetEnv ${Object.entries(set)
      .map(([name, value]) => quoted(`${name}=${value}`))
      .join(' ')}`,
    '',
  ].join('\n');
}

/**
 * Lists of users in which the one who logs in has this home and shell, for sshd alone; and `sshd`,
 * which it needs as root.
 * @param {string} stateDir
 * @param {number} port
 * @param {string} home
 * @param {string | undefined} shell
 */
function userLists(stateDir, port, home, shell) {
  const { username, uid, gid, shell: own } = userInfo();
  const others = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(`${username}:`));
  if (!others.some((line) => line.startsWith('sshd:')))
    others.push('sshd:x:64900:65534::/run/sshd:/usr/sbin/nologin');
  const me = [username, 'x', uid, gid, '', home, shell ?? own ?? '/bin/sh'].join(':');
  const files = {
    NSS_WRAPPER_PASSWD: `${[...others, me].join('\n')}\n`,
    NSS_WRAPPER_GROUP: readFileSync('/etc/group', 'utf8'),
    NSS_WRAPPER_SHADOW: `${username}:*:19000:0:99999:7:::\n`, // a locked account may log in here
  };
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => {
      const path = join(stateDir, `${name.slice('NSS_WRAPPER_'.length).toLowerCase()}-${port}`);
      writeFileSync(path, text, { mode: 0o600 });
      return [name, path];
    }),
  );
}

/**
 * @param {SshdProgram} sshd
 * @param {Record<string, string>} lists
 */
function environmentOf(sshd, lists) {
  const libraries = sshd.libraries.length > 0 ? { LD_LIBRARY_PATH: sshd.libraries.join(':') } : {};
  const env = { PATH: process.env['PATH'], ...libraries };
  return sshd.wrapper ? { ...env, LD_PRELOAD: sshd.wrapper, ...lists } : env;
}

/** @param {SshdProgram} sshd */
function checkRoot(sshd) {
  if (process.getuid?.() !== 0) return;
  if (!sshd.wrapper && !/^sshd:/m.test(readFileSync('/etc/passwd', 'utf8')))
    throw new Error(
      'sshd as root needs a user named sshd. Install the package libnss-wrapper or openssh-server.',
    );
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 }); // compiled in: root's sshd drops its privileges there
}

/**
 * @param {ChildProcess} child
 * @param {string} log
 * @param {number} from
 */
async function untilListening(child, log, from) {
  const written = () => readFileSync(log).subarray(from).toString('utf8');
  for (const end = Date.now() + 15_000; Date.now() < end; await pause(20)) {
    if (written().includes('Server listening on')) return;
    if (child.exitCode !== null || child.signalCode !== null) break;
  }
  throw new Error(`sshd did not start: ${written().trim().slice(-2000)}`);
}

/**
 * Stops new connections first, then ends what came of the old ones, also what left them.
 * @param {ChildProcess} child
 * @param {Promise<unknown>} ended
 * @param {string} mark
 */
async function stop(child, ended, mark) {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    signalled(child.pid, 'SIGSTOP');
    const sessions = descendants(child.pid);
    signalled(child.pid, 'SIGKILL');
    await ended;
    await endProcesses(() => sessions.filter((session) => session.alive()));
  }
  await endProcesses(() => marked(markName, mark));
}

/**
 * Starts one. `stop()` ends it and everything that was started through it.
 * @param {SshdOptions} options
 * @returns {Promise<Sshd>}
 */
export async function startSshd({
  address,
  port,
  home,
  stateDir,
  authorizedKey,
  shell,
  extraConfig,
  environment,
  prefix = [],
}) {
  const sshd = ensureSshd();
  checkRoot(sshd);
  if (shell && !sshd.wrapper)
    throw new Error('another login shell needs the package libnss-wrapper. Install it.');
  for (const folder of [home, stateDir]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hostKey = join(stateDir, 'host_ed25519');
  const hostKeyFingerprint = ensureKey(hostKey, 'trainyard practice host');
  const keys = join(stateDir, 'authorized_keys');
  writeFileSync(keys, `${authorizedKey.trim()}\n`, { mode: 0o600 });
  const mark = randomUUID();
  const config = join(stateDir, `sshd-${port}.conf`);
  writeFileSync(
    config,
    configuration(sshd, { address, port, stateDir, home, hostKey, keys, mark, extraConfig, environment }),
  );
  const log = join(stateDir, `sshd-${port}.log`);
  const before = existsSync(log) ? readFileSync(log).length : 0;
  const output = openSync(log, 'a', 0o600);
  const [command = sshd.path, ...args] = [...prefix, sshd.path, '-D', '-e', '-f', config];
  const child = spawn(command, args, {
    detached: true, // apart from the terminal, whose Ctrl-C is for whoever started this
    stdio: ['ignore', output, output],
    env: environmentOf(sshd, userLists(stateDir, port, home, shell)),
  });
  closeSync(output);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const failed = new Promise((_resolve, reject) => child.once('error', reject));
  try {
    await Promise.race([untilListening(child, log, before), failed]);
  } catch (error) {
    if (child.pid) await stop(child, ended, mark);
    throw error;
  }
  failed.catch(() => undefined); // it has started: nothing can come of it any more
  if (child.pid === undefined) throw new Error(`${command} has no process`);
  return {
    address,
    port,
    pid: child.pid,
    log,
    hostKeyFingerprint,
    hostKey: readFileSync(`${hostKey}.pub`, 'utf8').trim(),
    stop: () => stop(child, ended, mark),
  };
}
