// Which key agents hold keys for this machine's user: sockets, and on Windows named pipes.
import { readdirSync } from 'node:fs';

/** Where the pipes of Windows are. Node lists them as it lists a folder. */
const pipes = '\\\\.\\pipe\\';
const opensshPipe = 'openssh-ssh-agent';

const isPipe = (path: string): boolean => /^[\\/]{2}[.?][\\/]pipe[\\/]/i.test(path);

/** What of this machine says where key agents are. `user` is the name of this machine's user. */
export interface AgentSurroundings {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  user: string;
  /** Names of the pipes that are there; asked on Windows only. */
  listPipes: () => readonly string[];
}

/** Of this machine. None where Windows does not tell them: then only keys in files are offered. */
export function namesOfPipes(): readonly string[] {
  try {
    return readdirSync(pipes);
  } catch {
    return [];
  }
}

/**
 * Sockets or pipes, in the order in which their keys are offered. `setting` is IdentityAgent of the
 * SSH configuration, and `expand` reads it as a path. Windows has, where nothing is set, the pipe
 * of its own ssh-agent service, and that of Pageant (PuTTY 0.75 and newer), which carries the
 * user's name. A socket of Cygwin or MSYS in SSH_AUTH_SOCK cannot be opened there, and is passed
 * over.
 */
export function keyAgents(
  setting: string | undefined,
  expand: (path: string) => string,
  { env, platform, user, listPipes }: AgentSurroundings,
): string[] {
  const given = setting === '' ? undefined : setting;
  if (given?.toLowerCase() === 'none') return [];
  const isVariable = given?.startsWith('$') === true && !given.startsWith('${');
  const fromEnvironment = given === undefined || given === 'SSH_AUTH_SOCK' || isVariable;
  if (!fromEnvironment) return [expand(given)];
  const named = env[isVariable ? given.slice(1) : 'SSH_AUTH_SOCK'];
  const path = named === '' || named?.toLowerCase() === 'none' ? undefined : named;
  if (platform !== 'win32') return path === undefined ? [] : [path];
  if (path !== undefined && isPipe(path)) return [path];
  if (given !== undefined) return [];
  const names = listPipes();
  const ofPageant = `pageant.${user.toLowerCase()}.`;
  return [
    ...names.filter((name) => name === opensshPipe),
    ...names.filter((name) => name.toLowerCase().startsWith(ofPageant)),
  ].map((name) => `${pipes}${name}`);
}
