import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import { isOver } from '../../core/runs/status.js';
import { pickRun } from './pickRun.js';
import type { Commands } from './register.js';

export async function stopRun({ services, runs }: Commands, given?: RunArgument): Promise<void> {
  const run = given ?? (await pickRun(services, ({ status }) => !isOver(status), 'No run is running.'));
  if (!run) return;
  const choices = [
    {
      label: 'After a checkpoint',
      description: 'nothing is lost; it can go on later',
      mode: 'checkpoint' as const,
    },
    { label: 'Now', description: 'steps since the last checkpoint are lost', mode: 'now' as const },
  ];
  const choice = await vscode.window.showQuickPick(choices, { placeHolder: `Stop ${run.id}` });
  if (!choice) return;
  await (await services.backend()).stop(run.dir, choice.mode);
  await runs.refresh();
}
