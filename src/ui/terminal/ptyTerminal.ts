// A shell under node-pty, shown in one of the editor's terminals.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as nodePty from 'node-pty';
import * as vscode from 'vscode';

type Pty = Pick<typeof nodePty, 'spawn'>;

/** From the bundle beside ours; throws where it has no binary for this platform. */
export function loadPty(bundleDir: string): Pty {
  return createRequire(join(bundleDir, 'extension.js'))('./node-pty.cjs') as Pty;
}

export interface ShellOptions {
  shell: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export class PtyTerminal implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly closed = new vscode.EventEmitter<number>();
  private process: nodePty.IPty | undefined;

  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;

  constructor(
    private readonly pty: Pty,
    private readonly options: ShellOptions,
  ) {}

  open(size: vscode.TerminalDimensions | undefined): void {
    const { shell, cwd, env } = this.options;
    const shellProcess = this.pty.spawn(shell, [], {
      name: 'xterm-256color',
      cols: size?.columns ?? 80,
      rows: size?.rows ?? 24,
      cwd,
      env,
    });
    this.process = shellProcess;
    shellProcess.onData((text) => {
      this.written.fire(text);
    });
    shellProcess.onExit(({ exitCode }) => {
      this.process = undefined;
      this.closed.fire(exitCode);
    });
  }

  handleInput(text: string): void {
    this.process?.write(text);
  }

  setDimensions({ columns, rows }: vscode.TerminalDimensions): void {
    this.process?.resize(columns, rows);
  }

  close(): void {
    this.process?.kill();
    this.written.dispose();
    this.closed.dispose();
  }
}
