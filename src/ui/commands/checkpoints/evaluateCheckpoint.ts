// Evaluate Now.
import * as vscode from 'vscode';
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { evaluateCheckpoint as evaluate } from '../../../core/checkpoints/evaluate.js';
import { evaluationData } from '../../../core/plan/evaluated.js';
import { percent, whole } from '../../figureText.js';
import { withProgress } from '../progress.js';
import { runTitle } from '../runTitle.js';
import { browse, Folders } from '../start/folders.js';
import type { Ui } from '../ui.js';
import { pickCheckpoint } from './pickCheckpoint.js';

/** On the run's own data, or on a folder that is asked for; the result stands on the row then. */
export async function evaluateCheckpoint(ui: Ui, given?: CheckpointArgument | RunArgument): Promise<void> {
  const chosen = await pickCheckpoint(ui, given, 'Evaluate a Checkpoint');
  if (!chosen) return;
  const { run, checkpoint } = chosen;
  const backend = await ui.services.backend();
  const machine = await backend.machine(run.profile);
  const entry = await (await machine.node.client()).request('run.get', { dir: run.dir });
  const title = `Evaluate step ${whole(checkpoint.step)}`;
  const data =
    evaluationData(entry) ??
    (await browse(`${title}: on which images?`, new Folders(machine), 'evaluate on'));
  if (data === undefined) return;
  const { top1, images } = await withProgress(title, (progress) =>
    evaluate(machine, entry, checkpoint, data, progress),
  );
  await backend.monitor.readAgain(run.profile, run.dir);
  await ui.checkpoints.refresh();
  void vscode.window.showInformationMessage(
    `Step ${whole(checkpoint.step)} of ${await runTitle(ui.services, run)}: top-1 ${percent(top1)} of ${whole(images)} images.`,
  );
}
