// A shell on a node, shown in one of the editor's terminals. Made again, at the press of a key,
// when its connection was lost.
import * as vscode from 'vscode';
import type { SshShell, TerminalSize } from '../../core/ssh/base/transport.js';
import { errorWords } from '../remedies.js';

type Size = Pick<vscode.TerminalDimensions, 'columns' | 'rows'>;
type OpenShell = (size: TerminalSize) => Promise<SshShell>;

export class NodeTerminal implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly closed = new vscode.EventEmitter<number>();
  private shell: SshShell | undefined;
  private size: Size = { columns: 80, rows: 24 };
  private waiting = false;
  private gone = false;

  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;

  constructor(
    private readonly host: string,
    private readonly openShell: OpenShell,
  ) {}

  open(size: vscode.TerminalDimensions | undefined): void {
    if (size) this.size = size;
    void this.connect();
  }

  handleInput(text: string): void {
    if (this.waiting) {
      this.waiting = false;
      void this.connect();
    } else this.shell?.stdin.write(text);
  }

  setDimensions(size: vscode.TerminalDimensions): void {
    this.size = size;
    this.shell?.resize(size.columns, size.rows);
  }

  close(): void {
    this.gone = true;
    this.shell?.dispose();
    this.written.dispose();
    this.closed.dispose();
  }

  private async connect(): Promise<void> {
    try {
      const { columns, rows } = this.size;
      const shell = await this.openShell({ columns, rows, term: 'xterm-256color' });
      if (this.gone) {
        shell.dispose();
        return;
      }
      this.shell = shell;
      const decoder = new TextDecoder(); // a character may come in two pieces
      shell.stdout.on('data', (chunk: Buffer) => {
        this.written.fire(decoder.decode(chunk, { stream: true }));
      });
      shell.stdin.on('error', () => undefined); // the end of the shell tells it
      const { code, signal } = await shell.closed;
      this.shell = undefined;
      if (this.isGone()) return;
      if (code === null && signal === null) this.askAgain(`the connection to ${this.host} was lost`);
      else this.closed.fire(code ?? 1);
    } catch (error) {
      this.shell = undefined;
      if (!this.isGone()) this.askAgain(errorWords(error).replace(/\.$/, ''));
    }
  }

  private isGone(): boolean {
    return this.gone;
  }

  private askAgain(why: string): void {
    this.waiting = true;
    this.written.fire(`\r\n\x1b[33m${why}. Press a key to connect again.\x1b[0m\r\n`);
  }
}
