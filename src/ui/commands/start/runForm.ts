// The form of a new run, in a file that is loaded when a form is first opened.
import * as vscode from 'vscode';
import type { CommandId, ProfileArgument, RunArgument } from '../../../contributions.js';
import { basename } from '../../../core/base/nodePath.js';
import { holdOut } from '../../../core/cluster/holdOut.js';
import { FormSession } from '../../form/formSession.js';
import { RunFormPanel, type FormActs } from '../../form/runFormPanel.js';
import type { FormStart } from '../../form/runForms.js';
import type { Backend } from '../../backend.js';
import { uploadFolder } from '../cluster/uploadFolder.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { runLike } from './runLike.js';
import { showAskedScript } from './showAskedScript.js';
import { startOf } from './startAsked.js';
import { startRun } from './startRun.js';

/** Opens the form, filled in for this profile or like this run. UserError. */
export async function openForm(ui: Ui, from?: ProfileArgument | RunArgument): Promise<void> {
  await openFormWith(ui, from && 'dir' in from ? await runLike(ui, from) : from?.profile);
}

/** The same with what it begins with; undefined for what was filled in last. */
export async function openFormWith(ui: Ui, like: FormStart | undefined): Promise<void> {
  const backend = await ui.services.backend();
  ui.forms.show(like, (onGone) => makePanel(ui, backend, like, onGone));
}

/** The form in a panel that the editor brought back, as it was filled in. */
export async function adoptForm(ui: Ui, panel: vscode.WebviewPanel): Promise<void> {
  const backend = await ui.services.backend();
  ui.forms.adopt(panel, (onGone) => makePanel(ui, backend, undefined, onGone, panel));
}

function makePanel(
  ui: Ui,
  backend: Backend,
  like: FormStart | undefined,
  onGone: () => void,
  panel?: vscode.WebviewPanel,
): RunFormPanel {
  const session = new FormSession(ui.services, backend, like);
  const acts: FormActs = {
    start: async (run) => {
      const { recent, how } = startOf(run);
      await startRun(ui, recent, how);
    },
    showScript: (run) => showAskedScript(ui, run),
    upload: (profile, folder) => uploadFolder(ui, profile, folder),
    addCluster: async () => {
      await vscode.commands.executeCommand('trainyard.addCluster' satisfies CommandId, 'form');
    },
    holdOut: async (profile, folder, images) => {
      const machine = await backend.machine(profile);
      const title = `Holding out images of ${basename(folder)}`;
      return withProgress(title, (progress) => holdOut(machine, folder, images, progress));
    },
  };
  return new RunFormPanel(ui.services, session, acts, onGone, panel);
}
