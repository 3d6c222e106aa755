// Stop Now, and Stop After a Checkpoint.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import type { StopMode } from '../../../core/contracts/runSchema.js';
import { isOver } from '../../../core/model/runStatus.js';
import { pickRun } from '../pick.js';
import { runTitle } from '../runTitle.js';
import type { Ui } from '../ui.js';

export async function stopRun(ui: Ui, mode: StopMode, given?: RunArgument): Promise<void> {
  const title = mode === 'now' ? 'Stop Now' : 'Stop After a Checkpoint';
  const run = await pickRun(ui, given, title, ({ status }) => !isOver(status));
  if (!run) return;
  if (mode === 'now') {
    const answer = await vscode.window.showWarningMessage(
      `Stop ${await runTitle(ui.services, run)} now?`,
      { modal: true, detail: 'Steps since the last checkpoint are lost.' },
      'Stop Now',
    );
    if (answer !== 'Stop Now') return;
  }
  const backend = await ui.services.backend();
  await (await backend.machine(run.profile)).stop(run.dir, mode);
  await backend.monitor.refresh();
}
