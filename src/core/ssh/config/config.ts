// What ssh would do for a host: the user's own configuration, with what the profile says on top.
import { existsSync } from 'node:fs';
import { homedir, hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../base/errors.js';
import { keyAgents, namesOfPipes } from './keyAgents.js';
import type { SshTarget } from '../base/transport.js';

/** Keywords in lower case, each with all its values, as `ssh -G` prints them. */
export type Settings = ReadonlyMap<string, readonly string[]>;

/** Everything that the user's configuration and the profile say of one host. */
export interface SshConfig {
  /** As the profile names it. */
  host: string;
  hostName: string;
  port: number;
  user: string;
  /** In the order in which they are offered. */
  identityFiles: string[];
  /** Named by the profile: the only key that is offered, and it must be there. */
  ownIdentity: boolean;
  identitiesOnly: boolean;
  /** Sockets or pipes of key agents, in the order in which their keys are offered. */
  agents: string[];
  proxyJump: string | undefined;
  proxyCommand: string | undefined;
  /** The user's own files of host keys, without those of the system. */
  userKnownHosts: string[];
  /** The user's own files and those of the system. */
  knownHosts: string[];
  /** `StrictHostKeyChecking yes`: an unknown host key is refused, not asked about. */
  strictHostKeys: boolean;
  /** What only the user's own ssh reads: keys in `RevokedHostKeys`, keys that a command prints. */
  hostKeySources: string[];
  /** How known_hosts calls the host, whatever its name and port. */
  hostKeyAlias: string | undefined;
  /** Files of certificates that the configuration names. */
  certificates: string[];
  /**
   * Key exchanges to which the configuration limits itself, as it names them; empty: not limited.
   */
  kexAlgorithms: string[];
  /** Which of the ways to log in the configuration allows. */
  methods: { publickey: boolean; password: boolean; keyboardInteractive: boolean; gssapi: boolean };
  /** A key on a PKCS#11 token is configured. */
  pkcs11: boolean;
}

/** What of this machine an SSH configuration depends on. `home` is the user's home folder. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  home: string;
  /** This machine's own where it is left out. */
  platform?: NodeJS.Platform;
  /** Names of the pipes of Windows; none where it is left out. */
  listPipes?: () => readonly string[];
}

/** The surroundings of this process. */
export const ownSurroundings = (): Surroundings => ({
  env: process.env,
  home: homedir(),
  listPipes: namesOfPipes,
});

const none = (value: string | undefined): string | undefined =>
  value === undefined || value === '' || value.toLowerCase() === 'none' ? undefined : value;

/** UserError (usage) for what stands in no command line of ssh. */
export function checkHost(host: string): void {
  if (host === '' || host.startsWith('-') || /[\s\p{Cc}]/u.test(host)) {
    throw new UserError(
      'usage',
      `${JSON.stringify(host)} is no host`,
      'A host does not begin with a dash and has no blanks',
    );
  }
}

/**
 * The configuration of a host: `settings` of the user's files, and over them what the target names.
 */
export function sshConfig(target: SshTarget, settings: Settings, around: Surroundings): SshConfig {
  const first = (keyword: string): string | undefined => settings.get(keyword)?.[0];
  const yes = (keyword: string, otherwise: boolean): boolean => {
    const value = first(keyword)?.toLowerCase();
    return value === undefined ? otherwise : value !== 'no' && value !== 'false';
  };
  const { platform = process.platform, listPipes = () => [] } = around;
  const words = (keyword: string): string[] => (none(first(keyword)) ?? '').split(/\s+/).filter(Boolean);
  const named = target.host.slice(target.host.lastIndexOf('@') + 1);
  const config = {
    hostName: first('hostname') ?? named,
    port: target.port ?? (Number(first('port')) || 22),
    user: target.user ?? first('user') ?? userInfo().username,
  };
  const expand = (path: string): string => expandPath(path, { ...config, host: named }, around);
  const paths = (keyword: string): string[] => (settings.get(keyword) ?? []).filter(none).map(expand);
  const files = (keyword: string): string[] => joinedPaths(pathsOf(words(keyword), platform).map(expand));
  const userKnownHosts = files('userknownhostsfile');
  const preferred = first('preferredauthentications')?.split(',');
  const allows = (method: string, keyword: string, otherwise = true): boolean =>
    yes(keyword, otherwise) && (preferred === undefined || preferred.includes(method));
  const jump = target.proxyJump ?? first('proxyjump');
  return {
    ...config,
    host: target.host,
    identityFiles: target.identityFile === undefined ? paths('identityfile') : [expand(target.identityFile)],
    ownIdentity: target.identityFile !== undefined,
    identitiesOnly: target.identityFile !== undefined || yes('identitiesonly', false),
    agents: keyAgents(first('identityagent'), expand, {
      env: around.env,
      platform,
      user: userInfo().username,
      listPipes,
    }),
    proxyJump: none(jump),
    proxyCommand: target.proxyJump === undefined ? none(first('proxycommand')) : undefined,
    userKnownHosts,
    knownHosts: [...userKnownHosts, ...files('globalknownhostsfile')],
    strictHostKeys: ['yes', 'true'].includes(first('stricthostkeychecking')?.toLowerCase() ?? ''),
    hostKeySources: ['RevokedHostKeys', 'KnownHostsCommand'].filter(
      (keyword) => none(first(keyword.toLowerCase())) !== undefined,
    ),
    hostKeyAlias: none(first('hostkeyalias')),
    certificates: target.identityFile === undefined ? paths('certificatefile') : [],
    kexAlgorithms: words('kexalgorithms').flatMap((list) => list.split(',')),
    methods: {
      publickey: allows('publickey', 'pubkeyauthentication'),
      password: allows('password', 'passwordauthentication'),
      keyboardInteractive: allows('keyboard-interactive', 'kbdinteractiveauthentication'),
      gssapi: allows('gssapi-with-mic', 'gssapiauthentication', false),
    },
    pkcs11: none(first('pkcs11provider')) !== undefined,
  };
}

/**
 * `ssh -G` writes a path with blanks without quotes: the longest run of words that is a file is one
 * path.
 */
function joinedPaths(words: readonly string[]): string[] {
  const paths: string[] = [];
  for (let at = 0; at < words.length;) {
    let end = words.length;
    while (end > at + 1 && !existsSync(words.slice(at, end).join(' '))) end--;
    paths.push(words.slice(at, end).join(' '));
    at = end;
  }
  return paths;
}

/**
 * The paths of a list of words. A folder of Windows may have a blank in its name, and `ssh -G`
 * prints no quotes; so there, what does not begin as a path does goes on with the one before.
 */
function pathsOf(words: readonly string[], platform: NodeJS.Platform): string[] {
  if (platform !== 'win32') return [...words];
  const paths: string[] = [];
  for (const word of words) {
    const last = paths.pop();
    if (last === undefined) paths.push(word);
    else if (/^([~%$/\\]|[A-Za-z]:|__PROGRAMDATA__|none$)/.test(word)) paths.push(last, word);
    else paths.push(`${last} ${word}`);
  }
  return paths;
}

/** `~`, `${NAME}` and ssh_config's tokens, of those that a path may have. */
function expandPath(
  path: string,
  { host, hostName, port, user }: { host: string; hostName: string; port: number; user: string },
  { env, home, platform = process.platform }: Surroundings,
): string {
  const self = userInfo();
  const tokens = new Map(
    Object.entries({
      '%': '%',
      d: home,
      h: hostName,
      i: String(self.uid),
      k: host,
      L: hostname().split('.')[0] ?? '',
      l: hostname(),
      n: host,
      p: String(port),
      r: user,
      u: self.username,
    }),
  );
  const inHome = path === '~' || path.startsWith('~/') || (platform === 'win32' && path.startsWith('~\\'));
  const full = inHome ? join(home, path.slice(1)) : path;
  return full
    .replace(/^__PROGRAMDATA__/, () => env['ProgramData'] ?? 'C:\\ProgramData') // as ssh of Windows prints it
    .replace(/\$\{([^}]+)\}/g, (whole, name: string) => env[name] ?? whole)
    .replace(/%(.)/g, (whole, token: string) => tokens.get(token) ?? whole);
}

const exchanges =
  /^(curve25519-sha256(@libssh\.org)?|ecdh-sha2-nistp(256|384|521)|diffie-hellman-group(14|15|16|17|18|-exchange)-sha(256|512))$/;

/**
 * Why only the user's own ssh can reach this host; undefined: ssh2 can, as far as the configuration
 * tells.
 */
export function needsOpenSsh(config: SshConfig): string | undefined {
  if (config.proxyCommand !== undefined) return 'its SSH configuration has a ProxyCommand';
  const [source] = config.hostKeySources;
  if (source !== undefined) return `its SSH configuration has ${source}`;
  const certificate = [
    ...config.certificates,
    ...config.identityFiles.map((path) => `${path}-cert.pub`),
  ].find((path) => existsSync(path));
  if (certificate !== undefined) return `it logs in with the certificate ${certificate}`;
  if (config.pkcs11) return 'its key is on a PKCS#11 token';
  const key = config.identityFiles.find((path) => existsSync(path));
  if (config.identitiesOnly && key?.endsWith('_sk') === true) return `${key} is a security key`;
  const { publickey, password, keyboardInteractive, gssapi } = config.methods;
  if (gssapi && !publickey && !password && !keyboardInteractive) {
    return 'it logs in by GSSAPI (Kerberos) only';
  }
  if (config.kexAlgorithms.length > 0 && !config.kexAlgorithms.some((name) => exchanges.test(name))) {
    return 'its key exchange is limited to algorithms that Trainyard does not have';
  }
  return undefined;
}
