// Which checkpoint a command is about.
import * as vscode from 'vscode';
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import type { Checkpoint } from '../../../core/contracts/checkpointSchema.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

/** A checkpoint, and the run that has it. */
export interface ChosenCheckpoint {
  run: RunArgument;
  checkpoint: Checkpoint;
}

/**
 * The given checkpoint; else one that is asked for, of the given run or of the one whose
 * checkpoints are shown. Undefined where somebody gave up. UserError (usage) where there is none.
 */
export async function pickCheckpoint(
  ui: Ui,
  given: CheckpointArgument | RunArgument | undefined,
  title: string,
  wanted: (checkpoint: Checkpoint) => boolean = ({ valid }) => valid,
): Promise<ChosenCheckpoint | undefined> {
  const run = given ?? ui.checkpoints.run ?? (await pickRun(ui, undefined, title));
  if (!run) return undefined;
  const argument: RunArgument = { profile: run.profile, id: run.id, dir: run.dir };
  const machine = await (await ui.services.backend()).machine(run.profile);
  const client = await machine.node.client();
  const { checkpoints } = await client.request('checkpoint.list', { dir: run.dir });
  const newestFirst = [...checkpoints].sort((a, b) => b.step - a.step);
  if (given && 'step' in given) {
    const checkpoint = newestFirst.find(({ step }) => step === given.step);
    if (checkpoint) return { run: argument, checkpoint };
    await ui.checkpoints.refresh();
    const what = `${run.id} has no checkpoint of step ${given.step} any more`;
    throw new UserError('usage', what, 'Choose another one');
  }
  const offered = newestFirst.filter(wanted);
  if (offered.length === 0) {
    throw new UserError('usage', `${run.id} has no such checkpoint`, 'Choose another run');
  }
  const items = offered.map((checkpoint) => {
    const { label, description } = ui.checkpoints.describe(argument, checkpoint);
    return { label, description, checkpoint };
  });
  const options = { title, placeHolder: `Which checkpoint of ${run.id}?` };
  const chosen = await vscode.window.showQuickPick(items, options);
  return chosen && { run: argument, checkpoint: chosen.checkpoint };
}
