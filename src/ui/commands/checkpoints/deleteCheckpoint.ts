// Delete Checkpoint.
import * as vscode from 'vscode';
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { checkpointLoss, removeCheckpoint } from '../../../core/checkpoints/remove.js';
import { size, whole } from '../../figureText.js';
import { runTitle } from '../runTitle.js';
import type { Ui } from '../ui.js';
import { pickCheckpoint } from './pickCheckpoint.js';

/** Asks, and says what is lost. UserError (usage) for the last valid one. */
export async function deleteCheckpoint(ui: Ui, given?: CheckpointArgument | RunArgument): Promise<void> {
  const chosen = await pickCheckpoint(ui, given, 'Delete a Checkpoint', () => true);
  if (!chosen) return;
  const { run, checkpoint } = chosen;
  const backend = await ui.services.backend();
  const session = await backend.session(run.profile);
  const machine = await session.machine();
  const client = await machine.node.client();
  const entry = await client.request('run.get', { dir: run.dir });
  const others = await (await machine.registry(session.profile)).list();
  const { facts, needs } = await checkpointLoss(client, entry, checkpoint.step, others);
  const sentences = [...facts, ...needs, `It has ${size(checkpoint.bytes)}`, 'This cannot be undone'];
  const title = await runTitle(ui.services, run);
  const answer = await vscode.window.showWarningMessage(
    `Delete the checkpoint of step ${whole(checkpoint.step)} of ${title}?`,
    { modal: true, detail: sentences.map((sentence) => `${sentence}.`).join(' ') },
    'Delete',
  );
  if (answer !== 'Delete') return;
  await removeCheckpoint(machine, entry, checkpoint);
  await ui.checkpoints.refresh();
}
