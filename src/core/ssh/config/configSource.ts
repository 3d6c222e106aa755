// Reads the user's SSH configuration: by asking ssh itself, and where there is none, by reading its
// file.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cancelled, errorText, systemCode, throwIfCancelled, UserError } from '../../base/errors.js';
import { checkHost, type Settings, type Surroundings } from './config.js';
import type { SshTarget } from '../base/transport.js';

/** Characters of the output of `ssh -G` above which no more is kept. */
const mostOutput = 1024 * 1024;
/** Milliseconds for `ssh -G`. */
const patience = 20_000;

/** Where the user's SSH configuration is read from. */
export interface ConfigSourceOptions {
  around: Surroundings;
  /** In place of the user's own file. Never a path that a workspace names. */
  configFile?: string;
  /** The program, `ssh` where it is left out. */
  ssh?: string;
}

/** UserError (usage, connection) when the configuration cannot be read, Cancelled. */
export async function readSettings(
  target: SshTarget,
  options: ConfigSourceOptions,
  signal?: AbortSignal,
): Promise<Settings> {
  checkHost(target.host);
  throwIfCancelled(signal);
  const words = ['-G'];
  if (options.configFile !== undefined) words.push('-F', options.configFile);
  if (target.user !== undefined) words.push('-l', target.user);
  if (target.port !== undefined) words.push('-p', String(target.port));
  try {
    return parseSettings(await askSsh(options.ssh ?? 'ssh', [...words, '--', target.host], options, signal));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return readOwnFile(target, options);
    throw error;
  }
}

/** The lines of `ssh -G`: a keyword and its value. */
export function parseSettings(text: string): Settings {
  const settings = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, keyword, value] = /^(\S+)\s+(.*?)\s*$/.exec(line) ?? [];
    if (keyword === undefined || value === undefined) continue;
    const name = keyword.toLowerCase();
    const values = settings.get(name);
    if (values) values.push(value);
    else settings.set(name, [value]);
  }
  return settings;
}

async function askSsh(
  ssh: string,
  words: readonly string[],
  { around }: ConfigSourceOptions,
  signal?: AbortSignal,
): Promise<string> {
  const child = spawn(ssh, words, { stdio: ['ignore', 'pipe', 'pipe'], env: around.env });
  const abort = (): void => {
    child.kill('SIGKILL');
  };
  signal?.addEventListener('abort', abort, { once: true });
  // Not spawn's own timeout: where there is no such program, that one goes on, and keeps this
  // process alive.
  const timer = setTimeout(abort, patience);
  let output = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < mostOutput) output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-2000);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    if (signal?.aborted === true) throw new Cancelled();
    if (code === 0) return output;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  const host = words.at(-1) ?? '';
  const what = `ssh does not understand its configuration for ${host}: ${complaint.trim()}`;
  throw new UserError('connection', what, { kind: 'correctSshConfig', host });
}

/** Commands that a `Match exec` names are not run here. */
async function readOwnFile(target: SshTarget, options: ConfigSourceOptions): Promise<Settings> {
  const folder = join(options.around.home, '.ssh');
  const path = options.configFile ?? join(folder, 'config');
  const { platform = process.platform } = options.around;
  const system = platform === 'win32' ? '__PROGRAMDATA__/ssh' : '/etc/ssh';
  const settings = new Map<string, string[]>([
    ['userknownhostsfile', ['~/.ssh/known_hosts ~/.ssh/known_hosts2']],
    ['globalknownhostsfile', [`${system}/ssh_known_hosts ${system}/ssh_known_hosts2`]],
    ['identityfile', ['rsa', 'ecdsa', 'ed25519'].map((type) => `~/.ssh/id_${type}`)],
  ]);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return settings;
    throw new UserError(
      'connection',
      `${path} cannot be read: ${errorText(error)}`,
      'Correct its permissions',
    );
  }
  const { default: SSHConfig } = await import('ssh-config');
  const at = target.host.lastIndexOf('@');
  const found = SSHConfig.parse(text).compute(
    {
      Host: target.host.slice(at + 1),
      ...(target.user === undefined && at > 0 ? { User: target.host.slice(0, at) } : {}),
      ...(target.user === undefined ? {} : { User: target.user }),
    },
    { matchExec: false },
  );
  for (const [keyword, value] of Object.entries(found)) {
    const name = keyword.toLowerCase();
    const isList = name === 'identityfile' || name === 'certificatefile';
    const values = Array.isArray(value) ? value : [value];
    settings.set(name, isList ? values : [values.join(' ')]);
  }
  const hostName = settings.get('hostname')?.[0];
  if (hostName !== undefined) {
    const named = target.host.slice(at + 1);
    settings.set('hostname', [hostName.replace(/%[%h]/g, (token) => (token === '%h' ? named : '%'))]);
  }
  if (at > 0 && target.user === undefined) settings.set('user', [target.host.slice(0, at)]);
  return settings;
}
