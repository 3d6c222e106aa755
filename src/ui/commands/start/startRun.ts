// Starts a run, remembers it with the device that it took, and shows it.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { requestOf, withDevice } from '../../../core/plan/request.js';
import { rememberRun, type RecentRun } from '../../recentRuns.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';

/** Resolves once the run's supervisor holds the run. UserError, Cancelled. */
export async function startRun(ui: Ui, recent: RecentRun): Promise<RunArgument> {
  const { profile, words, ranks, name } = recent;
  const backend = await ui.services.backend();
  const session = await backend.session(profile);
  const workspace = vscode.workspace.workspaceFolders?.[0]?.uri;
  const started = await withProgress(`Run on ${profile}`, async (progress) => {
    progress.onProgress?.('connecting');
    const machine = await session.machine();
    const request = requestOf({
      profile: session.profile,
      words,
      cwd: workspace?.scheme === 'file' ? workspace.fsPath : '/',
      tensorboard: ui.services.setting('trainyard.openTensorBoardOnRun'),
      ...(ranks === undefined ? {} : { ranks }),
      ...(name === undefined ? {} : { name }),
    });
    return machine.start(request, progress);
  });
  const run: RunArgument = { profile, id: started.id, dir: started.dir };
  const { device } = started;
  await rememberRun(
    ui.services,
    device === undefined ? recent : { ...recent, words: withDevice(words, device) },
  );
  ui.keys.update({ canRunAgain: true });
  if (ui.services.setting('trainyard.openDashboardOnRun')) ui.dashboards.show(run);
  if (ui.services.setting('trainyard.openTensorBoardOnRun')) ui.tensorboards.show(run);
  await backend.monitor.refresh();
  await ui.checkpoints.choose(run);
  return run;
}
