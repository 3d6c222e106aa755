// Predict on Pictures.
import * as vscode from 'vscode';
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { classNamesOf } from '../../../core/checkpoints/classNames.js';
import { mistakesOf } from '../../../core/checkpoints/mistakes.js';
import { predictPictures as predict } from '../../../core/checkpoints/predict.js';
import { runName } from '../../../core/model/runName.js';
import { showPredictions } from '../../panels/predictionPanel.js';
import { rememberedPictures, rememberPictures } from '../../remembered/rememberedPictures.js';
import { whole } from '../../figureText.js';
import { dialogStart } from '../../workspace/workspace.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { pickCheckpoint } from './pickCheckpoint.js';

/** Asks for pictures of this machine, and shows what the checkpoint takes each of them for. */
export async function predictPictures(ui: Ui, given?: CheckpointArgument | RunArgument): Promise<void> {
  const chosen = await pickCheckpoint(ui, given, 'Predict on Pictures');
  if (!chosen) return;
  const { run, checkpoint } = chosen;
  const machine = await (await ui.services.backend()).machine(run.profile);
  const entry = await (await machine.node.client()).request('run.get', { dir: run.dir });
  const title = `Predict with step ${whole(checkpoint.step)}`;
  const memory = ui.services.context.workspaceState;
  const pictures = await askPictures(title, rememberedPictures(memory));
  if (!pictures) return;
  await rememberPictures(memory, pictures);
  // Asked before, or finished predictions would be lost where the node is gone.
  const classNames = await classNamesOf(await machine.node.client(), entry, checkpoint);
  const predictions = await withProgress(title, (progress) =>
    predict(machine, entry, checkpoint, pictures, { ...progress, logger: ui.services.logger }),
  );
  const mistakes = mistakesOf(predictions, classNames);
  showPredictions(ui.services, { run: runName(entry), step: checkpoint.step, predictions, mistakes });
}

/** Those of last time, or others. Undefined where somebody gave up. */
async function askPictures(title: string, before: readonly string[]): Promise<readonly string[] | undefined> {
  const again = {
    label: before.length === 1 ? 'The picture of last time' : `The ${before.length} pictures of last time`,
    detail: before.join(', '),
    pictures: before,
  };
  const others = { label: 'Choose pictures…', detail: 'JPEG or PNG, of this machine', pictures: undefined };
  if (before.length > 0) {
    const placeHolder = 'On which pictures?';
    const chosen = await vscode.window.showQuickPick([again, others], { title, placeHolder });
    if (!chosen) return undefined;
    if (chosen.pictures) return chosen.pictures;
  }
  const [last] = before;
  const picked = await vscode.window.showOpenDialog({
    title,
    canSelectMany: true,
    openLabel: 'Predict',
    filters: { Pictures: ['jpg', 'jpeg', 'png'] },
    ...(last === undefined
      ? dialogStart()
      : { defaultUri: vscode.Uri.joinPath(vscode.Uri.file(last), '..') }),
  });
  return picked && picked.length > 0 ? picked.map(({ fsPath }) => fsPath) : undefined;
}
