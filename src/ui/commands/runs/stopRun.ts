// Stop Now, and Stop After a Checkpoint.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import type { StopMode } from '../../../core/contracts/runSchema.js';
import { isOver } from '../../../core/model/runStatus.js';
import { riskText } from '../../riskText.js';
import { pickRun } from '../pick.js';
import { listedRun, runTitle } from '../runTitle.js';
import type { Ui } from '../ui.js';

const saveFirst = 'Stop After a Checkpoint';

/** Says what is lost, and offers to lose nothing where the run makes checkpoints. */
async function askForStop(ui: Ui, run: RunArgument): Promise<StopMode | undefined> {
  const listed = await listedRun(ui.services, run);
  const isOwn = listed?.entry.run?.program === 'command';
  const lost = listed && riskText(listed);
  const answer = await vscode.window.showWarningMessage(
    `Stop ${await runTitle(ui.services, run)} now?`,
    {
      modal: true,
      detail: isOwn
        ? 'What the program has not saved is lost.'
        : `What was done since the last checkpoint is lost${lost === undefined ? '' : ` (about ${lost})`}.`,
    },
    'Stop Now',
    ...(isOwn ? [] : [saveFirst]),
  );
  if (answer === undefined) return undefined;
  return answer === saveFirst ? 'checkpoint' : 'now';
}

export async function stopRun(ui: Ui, mode: StopMode, given?: RunArgument): Promise<void> {
  const title = mode === 'now' ? 'Stop Now' : saveFirst;
  const run = await pickRun(ui, given, title, ({ status }) => !isOver(status));
  if (!run) return;
  if (mode === 'now') {
    const chosen = await askForStop(ui, run);
    if (chosen === undefined) return;
    mode = chosen;
  }
  const backend = await ui.services.backend();
  await (await backend.machine(run.profile)).stop(run.dir, mode);
  await backend.monitor.refresh(run.profile);
}
