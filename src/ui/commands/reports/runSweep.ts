// Run Sweep.
import * as vscode from 'vscode';
import type { ProfileArgument, RunArgument } from '../../../contributions.js';
import type { Progress } from '../../../core/base/progress.js';
import { reportTitle } from '../../../core/model/measured.js';
import { runSweep as sweepRuns } from '../../../core/measure/sweep.js';
import { holdSweep, openSweep, readSweep, sweepPage, writeSweep } from '../../../core/measure/sweepFolder.js';
import { stopTrials } from '../../../core/measure/stopTrials.js';
import { trialPlaces, type TrialPlaces } from '../../../core/measure/trialPlaces.js';
import { gpuWishOf } from '../../../core/plan/request/gpuWish.js';
import type { TypedRun } from '../../../core/plan/request/request.js';
import { trialLine, unreached, verdictSentence } from '../../../core/sweep/pages.js';
import { bestTrial, isTried, sameSweep, type Sweep, type Trial } from '../../../core/sweep/record.js';
import { errorWords } from '../../remedies.js';
import {
  forgetSweep,
  rememberedSweeps,
  rememberSweep,
  type SweepAnswers,
} from '../../remembered/rememberedSweeps.js';
import { withProgress } from '../progress.js';
import { showError } from '../showError.js';
import { newRunLike } from '../start/newRun.js';
import { codeOf } from '../start/startRun.js';
import type { Ui } from '../ui.js';
import { answeredSweep, askSweep, type AskedTrials } from './askSweep.js';
import { askGoOn, findReport, offerFolder, reportFolder } from './showReport.js';

const title = 'Run Sweep';

/**
 * The page of the sweep is open from the first trial on. Cancel ends the sweep, and not the runs
 * that are under way; the same sweep goes on when it is asked for again. One that ends with its
 * window is offered by the next window.
 */
export async function runSweep(ui: Ui, from?: ProfileArgument | RunArgument): Promise<void> {
  const asked = await askSweep(ui, from);
  if (!asked) return;
  const { plan } = asked;
  const { name } = plan.profile;
  const left = await findReport(ui, 'sweep', name, async (folder) => {
    const found = await readSweep(folder);
    return found && sameSweep(found, plan.sweep) && !found.trials.every(isTried) ? found : undefined;
  });
  const goOn = left ? await askGoOn(title, keptTrials(left.record)) : false;
  if (goOn === undefined) return;
  const folder = left && goOn ? left.folder : reportFolder(ui, 'sweep', name);
  await carryOut(ui, asked, folder);
}

/** Offers to go on with sweeps that ended with the window before this one. */
export async function offerSweeps(ui: Ui): Promise<void> {
  const left = rememberedSweeps(ui.services.context.workspaceState);
  await Promise.all(left.map(([folder, answers]) => offerSweep(ui, folder, answers)));
}

async function offerSweep(ui: Ui, folder: string, answers: SweepAnswers): Promise<void> {
  const forget = (): Thenable<void> => forgetSweep(ui.services.context.workspaceState, folder);
  let found: Sweep | undefined;
  try {
    found = await readSweep(folder);
  } catch (error) {
    await forget(); // else each window would say so
    throw error;
  }
  if (!found || found.trials.every(isTried)) return forget();
  const what = reportTitle('sweep', answers.run.profile);
  const text =
    answers.ahead === true && found.trials.every(({ status }) => status !== 'waiting')
      ? `${what} needs no window. ${keptTrials(found)}`
      : `${what} ended with its window: ${keptTrials(found)}`;
  const answer = await vscode.window.showInformationMessage(text, goOnButton, 'Leave It');
  // Without an answer, and where it cannot go on now, the next window asks again.
  if (answer === goOnButton) await carryOut(ui, await answeredSweep(ui, answers), folder);
  else await forget();
}

async function carryOut(ui: Ui, asked: AskedTrials, folder: string): Promise<void> {
  const memory = ui.services.context.workspaceState;
  await rememberSweep(memory, folder, asked.answers);
  const { name } = asked.plan.profile;
  const swept = await withProgress(`Sweep on ${name}`, (progress) => sweep(ui, asked, folder, progress));
  await forgetSweep(memory, folder); // not after an error: the next window offers it again
  void offerBest(ui, asked, swept, folder);
}

async function sweep(
  ui: Ui,
  { session, plan, answers: { run, ahead = false } }: AskedTrials,
  folder: string,
  progress: Progress,
): Promise<Sweep> {
  const { profile, typedOf } = plan;
  const tab = reportTitle('sweep', profile.name);
  const machine = await session.machine();
  const backend = await ui.services.backend();
  const lease = await holdSweep(folder, {
    ...(progress.signal ? { signal: progress.signal } : {}),
    onWait: (host) => progress.onProgress?.(`another one on ${host} is at this sweep`),
  });
  try {
    const found = await openSweep(folder, plan.sweep);
    const { without, ...places } = await placesOf(machine, typedOf({}), ahead);
    if (without.length > 0) progress.onProgress?.(unreached(without));
    const code = run.codeFolder === undefined ? undefined : await codeOf(ui, run.codeFolder, progress);
    await writeSweep(folder, found, lease);
    await ui.reports.show(tab, folder, sweepPage);
    const common = {
      ...progress,
      ...{ machine, profile, ...places, errorWords, logger: ui.services.logger },
      runOf: ({ values }: Trial) => ({ ...typedOf(values), code }),
      onSweep: async (now: Sweep) => {
        await writeSweep(folder, now, lease);
        await ui.reports.refresh(tab, folder, sweepPage);
      },
      onRun: async (id: string) => {
        await backend.note(id, profile.name);
        await backend.monitor.refresh(profile.name);
      },
      onTrial: (trial: Trial, what: 'started' | 'attached' | 'ended') =>
        progress.onProgress?.(trialLine(found, trial, what)),
    };
    const started = ahead ? await sweepRuns({ ...common, sweep: found, detached: true }) : found;
    return started.cancelled ? started : await sweepRuns({ ...common, sweep: started });
  } finally {
    await lease.release();
  }
}

/** As many as the GPUs have room for, where a trial takes a number of them; else one. */
function placesOf(
  machine: Parameters<typeof trialPlaces>[0],
  trial: TypedRun,
  ahead: boolean,
): Promise<TrialPlaces> {
  const wish = trial.gpus === undefined ? undefined : gpuWishOf(trial.gpus, 'the GPUs of a trial');
  return trialPlaces(machine, trial, wish === undefined || wish.indices ? 1 : 'gpus', wish, ahead);
}

const keptTrials = ({ trials }: Sweep): string =>
  `${trials.filter(isTried).length} of ${trials.length} trials are kept.`;

const goOnButton = 'Go On';
const stopButton = 'Stop Its Trials';
const newRunButton = 'New Run with the Best';

/** What is under way or waits when a sweep was cancelled. */
async function stopLeft(session: AskedTrials['session'], swept: Sweep): Promise<void> {
  await withProgress('Stop the trials', async () =>
    stopTrials(await session.machine(), session.profile, swept),
  );
}

async function offerBest(
  ui: Ui,
  { session, plan, answers }: AskedTrials,
  swept: Sweep,
  folder: string,
): Promise<void> {
  try {
    const best = bestTrial(swept);
    const text = `${reportTitle('sweep', swept.profile)}: ${verdictSentence(swept)}`;
    const goesOn = swept.cancelled && swept.trials.some(({ status }) => status === 'running');
    const buttons = [...(best ? [newRunButton] : []), ...(goesOn ? [stopButton] : [])];
    const answer = await offerFolder(text, folder, buttons);
    if (answer === stopButton) await stopLeft(session, swept);
    if (!best || answer !== newRunButton) return;
    await newRunLike(ui, { ...answers.run, words: plan.typedOf(best.values).words });
  } catch (error) {
    void showError(ui, error);
  }
}
