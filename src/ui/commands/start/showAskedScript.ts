// The batch script of a run that was not started: what Slurm would get.
import * as vscode from 'vscode';
import { UserError } from '../../../core/base/errors.js';
import type { AskedRun } from '../../../core/plan/request/commandLine.js';
import { batchScriptName } from '../../../core/slurm/script.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { startOf } from './startAsked.js';
import { requestFor } from './startRun.js';

/** Connects where that is not done yet. UserError, Cancelled. */
export async function showAskedScript(ui: Ui, run: AskedRun): Promise<void> {
  const { recent, how } = startOf(run);
  const title = `Batch script of a run on ${recent.profile}`;
  const script = await withProgress(title, async (progress) => {
    progress.onProgress?.('connecting');
    const session = await (await ui.services.backend()).session(recent.profile);
    const machine = await session.machine();
    if (machine.batchScript) {
      const request = await requestFor(ui, session.profile, recent, { tensorboard: false, ...how }, progress);
      return machine.batchScript(request, progress);
    }
    const what = `profile ${recent.profile} has no queue, so its runs have no batch script`;
    throw new UserError('usage', what, 'Choose a profile of kind slurm');
  });
  const uri = ui.documents.put(`New run on ${recent.profile} ${batchScriptName}`, script);
  await vscode.window.showTextDocument(uri, { preview: true });
}
