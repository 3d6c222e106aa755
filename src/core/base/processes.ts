// Running a helper program to its end, and telling whether a process that left its name behind
// still lives.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Cancelled, systemCode, throwIfCancelled } from './errors.js';

/** How a helper program ended. `code` is its exit code, null where a signal ended it. */
export interface CommandResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** stdout and stderr together, the last 64 KiB. */
  output: string;
}

/** Options of `runCommand`. `env` and `cwd` are those of this process where they are left out. */
export interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  signal?: AbortSignal;
  /**
   * Milliseconds after which the program is killed with its children (SIGKILL). Left out: never.
   */
  timeout?: number;
  /** Each whole line of stdout and stderr, without its newline. */
  onLine?: (line: string) => void;
}

/** Characters of output that are kept, the last ones. */
const keptCharacters = 65_536;

/**
 * Runs a program in a process group of its own; a cancelled one is killed with its children.
 * Rejects if it cannot start.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  throwIfCancelled(options.signal);
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    env: options.env ?? process.env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let output = '';
  let unfinished = '';
  const take = (chunk: string): void => {
    output = `${output}${chunk}`.slice(-keptCharacters);
    const lines = `${unfinished}${chunk}`.split(/\r?\n/);
    unfinished = lines.pop() ?? '';
    for (const line of lines) options.onLine?.(line);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  const kill = (): void => {
    if (child.pid === undefined) return;
    if (process.platform === 'win32') {
      child.kill(); // which has no process groups
      return;
    }
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It ended by itself just now.
    }
  };
  options.signal?.addEventListener('abort', kill, { once: true });
  const timer = options.timeout === undefined ? undefined : setTimeout(kill, options.timeout);
  try {
    return await new Promise<CommandResult>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        if (options.signal?.aborted === true) reject(new Cancelled());
        else resolve({ code, signal, output });
      });
    });
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', kill);
  }
}

/**
 * Start time of a process in clock ticks since boot (field 22 of /proc/<pid>/stat); undefined when
 * it is gone.
 */
export async function processStartTime(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** Whether a process of this machine has the pid. */
export function isProcessThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM'; // another user's
  }
}
