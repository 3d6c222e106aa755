// The command lines of ssh. Every value is a word of its own, never part of a shell's text.
import { UserError } from '../../base/errors.js';
import { checkHost } from '../config/config.js';
import type { SshTarget } from '../base/transport.js';

const options = (values: Record<string, string | number>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ['-o', `${name}=${value}`]);

/** The user's configuration may put these names into a ProxyCommand, which is a shell's text. */
function checkName(what: string, value: string): void {
  if (!/^[\p{L}\p{N}_[][\p{L}\p{N}._:@%+[\],-]*$/u.test(value)) {
    throw new UserError(
      'usage',
      `${JSON.stringify(value)} is no ${what}`,
      'Use letters, digits and . _ - only; put anything else into your SSH configuration under an alias',
    );
  }
}

/**
 * How the ssh in control of a connection is started. `control` is the path of its control socket.
 */
export interface MasterOptions {
  control: string;
  configFile: string | undefined;
  /** The way there, where it leads through a jump host. */
  proxyCommand: string | undefined;
  /** Files of host keys; ssh appends keys that the user accepts to the first. */
  knownHosts: readonly string[];
  strictHostKeys: boolean;
}

/** UserError (usage) for a target that cannot stand on a command line. */
export function checkTarget({ host, user, proxyJump }: SshTarget): void {
  checkHost(host);
  checkName('host', host);
  if (user !== undefined) checkName('user', user);
  for (const hop of proxyJump?.split(',') ?? []) checkName('jump host', hop);
}

/**
 * The connection itself: no session, and nothing that the user's configuration would add to one.
 */
export function masterArguments(
  target: SshTarget,
  { control, configFile, proxyCommand, knownHosts, strictHostKeys }: MasterOptions,
): string[] {
  const words = configFile === undefined ? [] : ['-F', configFile];
  words.push('-M', '-S', control, '-N', '-T', '-a', '-x');
  words.push(
    ...options({
      ControlPersist: 'no',
      ClearAllForwardings: 'yes',
      PermitLocalCommand: 'no',
      RemoteCommand: 'none',
      StrictHostKeyChecking: strictHostKeys ? 'yes' : 'ask', // never less than a question
      NoHostAuthenticationForLocalhost: 'no', // ssh2 has the same verdict on every address
      VerifyHostKeyDNS: 'no',
      UserKnownHostsFile: knownHosts.map(fileWord).join(' '),
      UpdateHostKeys: 'no', // the user's own files are only read
      NumberOfPasswordPrompts: 1, // a wrong answer is said, not asked again in silence
      BatchMode: 'no',
      ConnectTimeout: 15,
      ServerAliveInterval: 4, // with three misses a dead link is known within 20 s
      ServerAliveCountMax: 3,
      LogLevel: 'INFO', // what the server says before the login is not shown below it
    }),
  );
  if (target.port !== undefined) words.push('-p', String(target.port));
  if (target.user !== undefined) words.push('-l', target.user);
  if (target.identityFile !== undefined) {
    words.push('-i', target.identityFile, ...options({ IdentitiesOnly: 'yes' }));
  }
  if (proxyCommand !== undefined) words.push(...options({ ProxyCommand: proxyCommand }));
  return [...words, '--', target.host];
}

/**
 * A file as an option of several reads it. UserError (usage) for a name that no version of ssh can
 * be told.
 */
function fileWord(path: string): string {
  if (/["\\\p{Cc}]|\$\{/u.test(path)) {
    throw new UserError(
      'usage',
      `ssh cannot be told the file ${JSON.stringify(path)} of host keys`,
      'Give it and its folders names without quotes, backslashes and ${',
    );
  }
  return `"${path.replaceAll('%', '%%')}"`;
}

/**
 * A ProxyCommand, which is a shell's text (ssh puts `exec` before it): of our own words and paths,
 * and of what ssh puts in for the host's address.
 */
export function throughJump(ssh: string, control: string): string {
  const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''").replaceAll('%', '%%')}'`;
  const words = [quoted(ssh), '-F', 'none', '-S', quoted(control)];
  return `${words.join(' ')} -o ControlMaster=no -o ProxyCommand=false -W '[%h]:%p' ${reached.join(' ')}`;
}

/**
 * A channel of the connection behind `control`. Where that one is gone, ssh would make another by
 * itself; a proxy command that fails keeps it from that.
 */
export function channelArguments(control: string, log: string, ...more: string[]): string[] {
  const own = options({ ControlMaster: 'no', ProxyCommand: 'false', LogLevel: 'DEBUG3' });
  return ['-F', 'none', '-S', control, '-E', log, ...own, ...more];
}

/** The host of a channel's command line: it is reached already. */
export const reached = ['--', 'trainyard-node'];

/** How -L reads a path of a socket. */
export function socketWord(path: string): string {
  if (!path.startsWith('/') || path.includes('${') || /\p{Cc}/u.test(path)) {
    throw new Error(
      `${JSON.stringify(path)} cannot be forwarded: it is no absolute path, or has a variable in it`,
    );
  }
  return path.replace(/[\\:]/g, '\\$&').replaceAll('%', '%%');
}
