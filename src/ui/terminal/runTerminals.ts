// A terminal in a run's folder, with the environment its ranks have.
import * as vscode from 'vscode';
import { delimiter, dirname } from 'node:path';
import type { RunArgument } from '../../contributions.js';
import type { Machine } from '../../core/cluster/machine.js';
import type { NodePath } from '../../core/base/nodePath.js';
import { runShellLine } from '../../core/follow/runShell.js';
import type { Services } from '../services.js';
import { shortName } from '../../core/model/runName.js';
import { NodeTerminal, type OpenShell } from './nodeTerminal.js';
import { loadPty, PtyTerminal } from './ptyTerminal.js';
import { errorWords } from '../remedies.js';

/** A login shell there, which then becomes one in the run's folder with its environment. */
function onNode(name: string, run: RunArgument, shell: OpenShell): vscode.Terminal {
  const pty = new NodeTerminal(run.profile, shell, runShellLine(run.dir));
  return vscode.window.createTerminal({ name, pty, iconPath: new vscode.ThemeIcon('rocket') });
}

/** On this machine; on a node the shell reads it there. */
async function environmentOf(machine: Machine, dir: NodePath): Promise<Record<string, string>> {
  const details = await (await machine.node.client()).request('run.get', { dir });
  const paths = details.run?.paths;
  const programs = paths ? [paths.trainer, paths.python].map((path) => dirname(path)) : [];
  return {
    ...details.run?.env,
    TRAINYARD_RUN_DIR: dir,
    TRAINYARD_TERMINAL: '1', // what ends a run leaves it, and what is started in it, alone
    PATH: [...programs, process.env['PATH'] ?? ''].join(delimiter),
  };
}

export class RunTerminals {
  private readonly folders = new WeakMap<vscode.Terminal, string>();

  constructor(private readonly services: Services) {}

  async open(run: RunArgument): Promise<vscode.Terminal> {
    const machine = await (await this.services.backend()).machine(run.profile);
    const name = `Run ${shortName(run.id)}`;
    const terminal =
      machine.shell === undefined
        ? this.make(name, run.dir, await environmentOf(machine, run.dir))
        : onNode(name, run, machine.shell.bind(machine));
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
