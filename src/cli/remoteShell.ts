// A shell on a node in the terminal that the command was typed in.
import { UserError } from '../core/base/errors.js';
import type { RunTerminal } from '../core/follow/runTerminal.js';

const sizeOf = ({ columns, rows }: NodeJS.WriteStream): { columns: number; rows: number } => ({
  columns,
  rows,
});

/**
 * Until the shell ends. Every key is its own, Ctrl-C too. Returns its exit code. UserError (usage)
 * without a terminal, (connection) where the connection is lost.
 */
export async function remoteShell(
  { where, open }: RunTerminal,
  stdin: NodeJS.ReadStream = process.stdin,
  stdout: NodeJS.WriteStream = process.stdout,
): Promise<number> {
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new UserError('usage', 'there is no terminal here', 'Type the command in one, without a pipe');
  }
  const shell = await open({ ...sizeOf(stdout), term: process.env['TERM'] ?? 'xterm-256color' });
  const resize = (): void => {
    const { columns, rows } = sizeOf(stdout);
    shell.resize(columns, rows);
  };
  const hangUp = (): void => {
    shell.dispose(); // the terminal is gone
  };
  stdout.on('resize', resize);
  stdin.on('error', hangUp);
  stdin.on('end', hangUp);
  shell.stdin.on('error', () => undefined); // the end of the shell tells it
  stdin.setRawMode(true);
  try {
    shell.stdout.pipe(stdout, { end: false });
    stdin.pipe(shell.stdin, { end: false });
    const { code, signal } = await shell.closed;
    if (code !== null) return code;
    if (signal !== null) throw new UserError('failed', `the shell on ${where} was ended by ${signal}`, '');
    throw new UserError('connection', `the connection to ${where} was lost`, 'Open the terminal again');
  } finally {
    stdin.unpipe(shell.stdin);
    stdin.setRawMode(false);
    stdin.pause();
    stdin.off('error', hangUp);
    stdin.off('end', hangUp);
    stdout.off('resize', resize);
    shell.dispose();
  }
}
