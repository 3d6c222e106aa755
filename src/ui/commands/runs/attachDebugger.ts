// Attach Debugger: to the rank of a run that waits for one.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { DebugTunnel } from '../../../core/tunnels/debugTunnel.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';

/** Of Microsoft: it knows configurations of the type debugpy. */
const pythonDebugger = 'ms-python.debugpy';

/** False where it is missing, which is said. */
function hasPythonDebugger(): boolean {
  if (vscode.extensions.getExtension(pythonDebugger)) return true;
  const show = 'Show Extension';
  const what = 'A debugger for Python is the extension Python Debugger, which is not installed.';
  void vscode.window.showWarningMessage(what, show).then((chosen) => {
    if (chosen === undefined) return;
    void vscode.commands.executeCommand('workbench.extensions.search', pythonDebugger);
  });
  return false;
}

export async function attachDebugger(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Attach Debugger', ({ entry }) => entry.run?.debug !== undefined);
  if (!run || !hasPythonDebugger()) return;
  const machine = await (await ui.services.backend()).machine(run.profile);
  const { logger } = ui.services;
  const tunnel = await withProgress('Debugger', (progress) =>
    DebugTunnel.open(machine, run.dir, { ...progress, logger }),
  );
  const { configuration } = tunnel;
  const ends = vscode.debug.onDidTerminateDebugSession((session) => {
    // Sessions of its child processes have the same address, and this one as their parent.
    if (session.parentSession || session.name !== configuration.name) return;
    ends.dispose();
    tunnel.dispose();
  });
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (await vscode.debug.startDebugging(folder, { ...configuration })) return;
  ends.dispose();
  tunnel.dispose();
  throw new UserError('failed', `no debugger attached to ${run.id}`, 'See the debug console');
}
