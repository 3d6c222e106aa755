// Delete Run.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { deleteRunFolders, deletionNotes, ownFilesOf } from '../../../core/follow/deletion.js';
import { isOver, statusOf } from '../../../core/model/runStatus.js';
import { errorWords } from '../../remedies.js';
import { pickRun } from '../pick.js';
import { runTitle } from '../runTitle.js';
import type { Ui } from '../ui.js';

/** Where the program's own files go too, from a folder that was made for the run. */
const everythingAnswer = 'Delete Everything';

export async function deleteRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Delete Run', ({ status }) => isOver(status));
  if (!run) return;
  const title = await runTitle(ui.services, run);
  const backend = await ui.services.backend();
  const machine = await backend.machine(run.profile);
  const { names, mayGo } = await ownFilesOf(machine, run.dir);
  const others = names === '' ? 'Other files there stay.' : `Your program's files there stay: ${names}.`;
  const answer = await vscode.window.showWarningMessage(
    `Delete ${title}?`,
    {
      modal: true,
      detail: `Its checkpoints, metrics and logs in ${run.dir} go. ${others} This cannot be undone.`,
    },
    'Delete',
    ...(names !== '' && mayGo ? [everythingAnswer] : []),
  );
  if (answer === undefined) return;
  const client = await machine.node.client();
  const entry = await client.request('run.get', { dir: run.dir });
  // The agent deletes nothing while a terminal of the run is open. One that goes on keeps its own.
  if (isOver(statusOf(entry))) ui.terminals.close(run.dir);
  const { profile } = await backend.session(run.profile);
  const deletion = await deleteRunFolders(machine, profile, entry, answer === everythingAnswer);
  // The agent has ended TensorBoard, where it did not refuse.
  ui.tensorboards.close(run.dir);
  ui.dashboards.close(run.dir);
  await backend.monitor.refresh(run.profile);
  await ui.checkpoints.refresh();
  const notes = deletionNotes(run.dir, deletion, errorWords);
  if (notes.length > 0) {
    void vscode.window.showInformationMessage(`${title} was deleted. ${notes.join('. ')}`);
  }
}
