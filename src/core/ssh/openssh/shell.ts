// A login shell in a terminal of the node. Its size travels by commands there, because this side
// has no terminal to be sized.
import { randomBytes } from 'node:crypto';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { SshChannel, SshShell } from '../base/transport.js';

/** A terminal's size in characters. */
export interface Size {
  columns: number;
  rows: number;
}

const whole = (value: number): number => Math.max(1, Math.min(65_535, Math.trunc(value) || 1));
const sizeWords = ({ columns, rows }: Size): string => `rows ${whole(rows)} cols ${whole(columns)}`;

/** In the words that sh, bash, fish and tcsh have in common. */
export function shellCommand(size: Size): { command: string; nonce: string } {
  const nonce = randomBytes(12).toString('hex');
  return { command: `echo ${nonce}; tty; stty ${sizeWords(size)}; exec $SHELL -l`, nonce };
}

/** Hides what the channel prints before the shell, and learns the terminal's name from it. */
export class TerminalShell implements SshShell {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly closed: SshChannel['closed'];
  private terminal: string | undefined;
  private wanted: Size | undefined;

  constructor(
    private readonly channel: SshChannel,
    nonce: string,
    /** Runs a command on the node. */
    private readonly run: (command: string) => void,
  ) {
    this.stdin = channel.stdin;
    this.stderr = channel.stderr;
    this.closed = channel.closed;
    const shown = new PassThrough();
    this.stdout = shown;
    let head = Buffer.alloc(0);
    const begin = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const text = head.toString('latin1');
      const found = new RegExp(`${nonce}\\r?\\n([^\\r\\n]*)\\r?\\n`).exec(text);
      if (!found) return;
      channel.stdout.off('data', begin);
      channel.stdout.pause();
      if (/^\/dev\/[\w/]+$/.test(found[1] ?? '')) this.terminal = found[1];
      shown.write(head.subarray(found.index + found[0].length));
      channel.stdout.pipe(shown);
      if (this.wanted) this.apply(this.wanted);
    };
    channel.stdout.on('data', begin);
    channel.stdout.on('end', () => shown.end()); // also where it ended before the shell began
  }

  resize(columns: number, rows: number): void {
    this.apply({ columns, rows });
  }

  dispose(): void {
    this.channel.dispose();
  }

  private apply(size: Size): void {
    this.wanted = size;
    if (this.terminal !== undefined) this.run(`stty -F ${this.terminal} ${sizeWords(size)}`);
  }
}
