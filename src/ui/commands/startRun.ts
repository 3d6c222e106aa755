// Starts a run, remembers it, and shows it.
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import type { RunRequest } from '../../core/runs/spec.js';
import { withProgress } from './progress.js';
import type { Ui } from './ui.js';

/** What was started last, newest first; for Run Again and for the choices of Run Training. */
export interface RecentRun {
  profile: string;
  words: readonly string[];
  ranks?: number;
}

const memoryKey = 'trainyard.recentRuns';
const mostRecent = 8;

export function recentRuns({ services }: Ui): readonly RecentRun[] {
  return services.context.globalState.get<RecentRun[]>(memoryKey) ?? [];
}

async function remember(ui: Ui, run: RecentRun): Promise<void> {
  const same = (other: RecentRun): boolean =>
    other.profile === run.profile && other.words.join('\0') === run.words.join('\0');
  const list = [run, ...recentRuns(ui).filter((other) => !same(other))].slice(0, mostRecent);
  await ui.services.context.globalState.update(memoryKey, list);
  ui.keys.update({ canRunAgain: true });
}

/** Resolves once the run's supervisor holds the run. UserError, Cancelled. */
export async function startRun(ui: Ui, recent: RecentRun, name?: string): Promise<RunArgument> {
  const { profile, words, ranks } = recent;
  const backend = await ui.services.backend();
  const session = await backend.session(profile);
  const workspace = vscode.workspace.workspaceFolders?.[0]?.uri;
  const request: RunRequest = {
    profile: session.profile,
    words,
    cwd: workspace?.scheme === 'file' ? workspace.fsPath : '/',
    tensorboard: ui.services.setting('trainyard.openTensorBoardOnRun'),
    ...(ranks === undefined ? {} : { ranks }),
    ...(name === undefined ? {} : { name }),
  };
  const started = await withProgress(`Run on ${profile}`, async (progress) => {
    progress.onProgress?.('connecting');
    const machine = await session.machine();
    return machine.start(request, progress);
  });
  const run: RunArgument = { profile, id: started.id, dir: started.dir };
  await remember(ui, recent);
  if (ui.services.setting('trainyard.openDashboardOnRun')) ui.dashboards.show(run);
  if (ui.services.setting('trainyard.openTensorBoardOnRun')) ui.tensorboards.show(run);
  await backend.monitor.refresh();
  await ui.checkpoints.choose(run);
  return run;
}
