// A terminal in a run's folder, with the environment its ranks have.
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import { localShellEnvironment } from '../../core/follow/localShell.js';
import type { RunTerminal } from '../../core/follow/runTerminal.js';
import type { Services } from '../services.js';
import { shortName } from '../../core/model/runName.js';
import { NodeTerminal } from './nodeTerminal.js';
import { loadPty, PtyTerminal } from './ptyTerminal.js';
import { errorWords } from '../remedies.js';

/** On a node, where the shell reads the run's environment itself. */
function onNode(name: string, { where, open }: RunTerminal): vscode.Terminal {
  const pty = new NodeTerminal(where, open);
  return vscode.window.createTerminal({ name, pty, iconPath: new vscode.ThemeIcon('rocket') });
}

export class RunTerminals {
  private readonly folders = new WeakMap<vscode.Terminal, string>();

  constructor(private readonly services: Services) {}

  async open(run: RunArgument): Promise<vscode.Terminal> {
    const backend = await this.services.backend();
    const machine = await backend.machine(run.profile);
    const name = `Run ${shortName(run.id)}`;
    const place = await backend.runTerminal(run.profile, run.dir);
    const terminal = place
      ? onNode(name, place)
      : this.make(name, run.dir, await localShellEnvironment(machine, run.dir, process.env));
    this.folders.set(terminal, run.dir);
    terminal.show();
    return terminal;
  }

  /** Ends every terminal that was opened for the run. */
  close(dir: string): void {
    for (const terminal of vscode.window.terminals) {
      if (this.folders.get(terminal) === dir) terminal.dispose();
    }
  }

  /**
   * By node-pty where it loads: the shell then runs where this extension does, which has the user's
   * keys. Else the editor's own terminal.
   */
  private make(name: string, cwd: string, env: Record<string, string>): vscode.Terminal {
    const iconPath = new vscode.ThemeIcon('rocket');
    try {
      const pty = new PtyTerminal(loadPty(this.services.context.asAbsolutePath('dist')), {
        shell: vscode.env.shell || '/bin/sh',
        cwd,
        env: { ...process.env, ...env },
      });
      return vscode.window.createTerminal({ name, pty, iconPath });
    } catch (error) {
      this.services.logger.log(
        'info',
        `node-pty does not load, using the editor's terminal: ${errorWords(error)}`,
      );
      return vscode.window.createTerminal({ name, cwd, env, iconPath });
    }
  }
}
