// A shell in which a typed line starts a program. The terminal would show that line twice before
// the program begins. So the line is hidden, and people see a prompt first.
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { SshShell } from '../ssh/base/transport.js';

/** What is typed, and what the program in it prints when it begins, which the line has nowhere. */
export interface TypedStart {
  line: string;
  mark: string;
}

/** Milliseconds without the mark, after which everything is shown: a login may ask something. */
const patience = 10_000;
/** So do bytes beyond these. */
const mostHeld = 256 * 1024;

/**
 * The same shell, into which the line is typed. `greeting` stands in place of what came before the
 * mark. Where the mark does not come, or the shell ends before it, everything is shown as it came.
 * Owns `shell`.
 */
export class QuietStart implements SshShell {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly closed: SshShell['closed'];
  private readonly shown = new PassThrough();
  private held: Buffer | undefined = Buffer.alloc(0);
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly shell: SshShell,
    { line, mark }: TypedStart,
    greeting: string,
    wait = patience,
  ) {
    this.stdin = shell.stdin;
    this.stdout = this.shown;
    this.stderr = shell.stderr;
    this.closed = shell.closed;
    this.timer = setTimeout(() => {
      this.show();
    }, wait);
    shell.stdout.on('data', (chunk: Buffer) => {
      if (this.held === undefined) return;
      this.held = Buffer.concat([this.held, chunk]);
      const at = this.held.indexOf(mark, 0, 'latin1');
      if (at >= 0) this.show(Buffer.concat([Buffer.from(greeting), this.held.subarray(at + mark.length)]));
      else if (this.held.length > mostHeld) this.show();
    });
    shell.stdout.on('end', () => {
      this.show();
      this.shown.end();
    });
    shell.stdin.on('error', () => undefined); // the end of the shell tells it
    shell.stdin.write(line);
  }

  resize(columns: number, rows: number): void {
    this.shell.resize(columns, rows);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.shell.dispose();
  }

  /** From now on everything is shown, `bytes` first. Nothing where it is shown already. */
  private show(bytes = this.held): void {
    if (this.held === undefined) return;
    clearTimeout(this.timer);
    this.held = undefined;
    this.shown.write(bytes);
    this.shell.stdout.pipe(this.shown, { end: false });
  }
}
