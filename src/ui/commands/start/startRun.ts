// Starts a run, remembers it with the device that it took, and shows it.
import * as vscode from 'vscode';
import type { RunArgument } from '../../../contributions.js';
import { Cancelled, remedyOf } from '../../../core/base/errors.js';
import type { Progress } from '../../../core/base/progress.js';
import type { StartedRun } from '../../../core/cluster/nodes/machine.js';
import type { RunCode } from '../../../core/code/place.js';
import { takeSnapshot } from '../../../core/code/snapshot.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import { withDevice } from '../../../core/plan/request/recordedRun.js';
import { requestOf, type RunRequest } from '../../../core/plan/request/request.js';
import { cacheFolder } from '../../../core/setup/runtime.js';
import { showStarted } from '../../panels/showStarted.js';
import { rememberRun, type RecentRun } from '../../recentRuns.js';
import { errorWords } from '../../remedies.js';
import { workspaceFolder } from '../../workspace/workspace.js';
import { withProgress } from '../progress.js';
import { showError } from '../showError.js';
import type { Ui } from '../ui.js';
import { tellWarnings } from './tellWarnings.js';

/** How one start is made; the next one of the same run may differ. */
export interface StartOptions {
  /** Left out: as the setting says. */
  tensorboard?: boolean;
  /** Queue for GPUs that are held. */
  wait?: boolean;
}

const waitTitle = 'Wait for GPUs';

/**
 * Resolves once the run's supervisor holds the run. Where GPUs are held it is offered to wait for
 * them. UserError, Cancelled.
 */
export async function startRun(ui: Ui, recent: RecentRun, how: StartOptions = {}): Promise<RunArgument> {
  const { profile } = recent;
  const tensorboard = how.tensorboard ?? ui.services.setting('trainyard.openTensorBoardOnRun');
  const begin = (wait: boolean): Promise<StartedRun> =>
    withProgress(`Run on ${profile}`, (progress) => beginRun(ui, recent, { tensorboard, wait }, progress));
  const started = await begin(how.wait ?? false).catch(async (error: unknown) => {
    if (!isWorthWaiting(error)) throw error;
    ui.services.logger.log('error', errorWords(error));
    if (await wantsToWait(ui, error)) return begin(true);
    throw new Cancelled();
  });
  const run: RunArgument = { profile, id: started.id, dir: started.dir };
  void tellWarnings(ui.services, profile, started.warnings);
  if (started.note !== undefined) void vscode.window.showWarningMessage(`${started.id}: ${started.note}`);
  showStarted(ui, run, { dashboard: ui.services.setting('trainyard.openDashboardOnRun'), tensorboard });
  await (await ui.services.backend()).monitor.refresh(profile);
  await ui.checkpoints.choose(run);
  return run;
}

/** Whether others hold the GPUs that a start wanted, so that a queue leads to them. */
export const isWorthWaiting = (error: unknown): boolean => remedyOf(error)?.kind === 'waitForGpus';

/** Shows the error of such a start, and resolves with whether the user wants to wait instead. */
export const wantsToWait = (ui: Ui, error: unknown): Promise<boolean> => showError(ui, error, waitTitle);

/** The same without showing anything. */
export async function beginRun(
  ui: Ui,
  recent: RecentRun,
  how: { tensorboard: boolean; wait: boolean },
  progress: Progress,
): Promise<StartedRun> {
  const { profile, words } = recent;
  const backend = await ui.services.backend();
  const session = await backend.session(profile);
  progress.onProgress?.('connecting');
  const machine = await session.machine();
  const request = await requestFor(ui, session.profile, recent, how, progress);
  const started = await machine.start(request, progress);
  await backend.note(started.id, profile, request.about?.name);
  const { device } = started;
  await rememberRun(
    ui.services,
    device === undefined ? recent : { ...recent, words: withDevice(words, device) },
  );
  ui.keys.update({ canRunAgain: true });
  return started;
}

/** What a start asks for, with the code that goes along as it is now. UserError, Cancelled. */
export async function requestFor(
  ui: Ui,
  profile: Profile,
  { words, cwd, codeFolder, ...rest }: RecentRun,
  how: StartOptions,
  progress: Progress,
): Promise<RunRequest> {
  const code = codeFolder === undefined ? undefined : await codeOf(ui, codeFolder, progress);
  const common = { ...rest, code, profile, words, cwd: cwd ?? workspaceFolder() };
  return requestOf({ ...common, ...how, detached: true }); // a window may close at any time
}

/** The folder as it is now. What stays at home is said. UserError, Cancelled. */
export async function codeOf({ services }: Ui, folder: string, progress: Progress): Promise<RunCode> {
  const snapshot = await takeSnapshot(folder, { cache: cacheFolder(), ...progress });
  for (const note of snapshot.notes) services.logger.log('info', note);
  if (snapshot.notes.length > 0) void vscode.window.showInformationMessage(snapshot.notes.join(' '));
  return { record: snapshot.record, snapshot };
}
