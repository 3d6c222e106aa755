// Find Fastest Settings.
import * as vscode from 'vscode';
import type { MeasureArgument } from '../../../contributions.js';
import { candidatesOf } from '../../../core/bakeoff/candidates.js';
import { bakeOffTitle, keptSentence, verdictSentences } from '../../../core/bakeoff/pages.js';
import { bestRunOf, isWhole, type BakeOffResult } from '../../../core/bakeoff/result.js';
import { trainDefaultsOf } from '../../../core/bakeoff/trainDefaultsOf.js';
import { bakeOff } from '../../../core/measure/bakeOff.js';
import { bakeOffPage, readBakeOff, writeBakeOff } from '../../../core/measure/bakeOffFolder.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import { trainDefaultsText } from '../../../core/plan/request/trainDefaults.js';
import { slotsOfNode } from '../../../core/scaling/plan.js';
import { errorWords } from '../../remedies.js';
import { changed } from '../profiles/saveProfile.js';
import { withProgress } from '../progress.js';
import { showError } from '../showError.js';
import { newRun } from '../start/newRun.js';
import type { Ui } from '../ui.js';
import { askTraining } from './askTraining.js';
import { askGoOn, findReport, offerFolder, reportFolder } from './showReport.js';

const title = 'Find Fastest Settings';
const about = ': by images/s, not by accuracy';
const usualMinutes = 10;

/** Cancel ends it with a report of what there is. The winner is saved where that is asked for. */
export async function findBestSettings(ui: Ui, given?: MeasureArgument): Promise<void> {
  const asked = await askTraining(ui, title, given, about);
  if (!asked) return;
  const minutes = given?.words ? (given.minutes ?? usualMinutes) : await askMinutes();
  if (minutes === undefined) return;
  const { session, words, ranks, cores } = asked;
  const { profile } = session;
  const machine = await session.machine();
  const backend = await ui.services.backend();
  const limits = { ranks, cores, slots: slotsOfNode(profile, cores) };
  const found = candidatesOf(words, await machine.trainerFlags('train'), limits);
  const same = { profile: profile.name, words, ...found };
  const known = await findReport(ui, 'bakeoff', profile.name, (folder) => readBakeOff(folder, same));
  const left = known && !isWhole(known.record) ? known : undefined;
  const goOn = left && !given?.words ? await askGoOn(title, keptSentence(left.record)) : false;
  if (goOn === undefined && left) return;
  const folder = left && goOn ? left.folder : reportFolder(ui, 'bakeoff', profile.name);
  const result = await withProgress(`Trying settings on ${profile.name}`, (progress) =>
    bakeOff({
      ...progress,
      ...found,
      earlier: goOn ? left?.record : undefined,
      machine,
      profile,
      cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '/',
      words,
      seconds: 60 * minutes,
      keepRuns: false,
      onResult: (now) => writeBakeOff(folder, now),
      onRun: () => backend.monitor.refresh(profile.name),
      errorWords,
      logger: ui.services.logger,
    }),
  );
  await ui.reports.show(bakeOffTitle(profile.name), folder, bakeOffPage);
  void offerWinner(ui, profile, result, folder);
}

const newRunButton = 'New Run';
const saveButton = 'Save to Profile';

/** Of a search that was cancelled nothing is saved, and its winner so far can be used once. */
async function offerWinner(ui: Ui, profile: Profile, result: BakeOffResult, folder: string): Promise<void> {
  try {
    const run = bestRunOf(result);
    const train = result.cancelled ? undefined : trainDefaultsOf(result);
    const [verdict = ''] = verdictSentences(result);
    const [buttons, use] = !run
      ? [[], '']
      : train
        ? ([[newRunButton, saveButton], ' Use these settings in one run, or save them for all.'] as const)
        : ([[newRunButton], ' Use these settings in one run.'] as const);
    const answer = await offerFolder(`${verdict}${use}`, folder, buttons);
    if (!run || answer === undefined) return;
    if (answer === saveButton && train && !(await saved(ui, profile.name, train))) return;
    await newRun(ui, run);
  } catch (error) {
    void showError(ui, error);
  }
}

/**
 * Saves what trainings have from now on into the profile as it is now: it may have been edited
 * meanwhile. Resolves with whether a run is wanted at once. UserError.
 */
async function saved(ui: Ui, name: string, train: NonNullable<Profile['train']>): Promise<boolean> {
  const profiles = (await ui.services.backend()).profiles();
  await profiles.change(name, (current) => ({ ...current, train }));
  await changed(ui);
  const what = trainDefaultsText({ ...train, why: undefined });
  const text = `Saved: each training on ${name} that does not say otherwise has ${what}.`;
  return (await vscode.window.showInformationMessage(text, newRunButton)) === newRunButton;
}

async function askMinutes(): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    value: String(usualMinutes),
    prompt: 'Minutes that it may take. It compares images/s, not accuracy',
    ignoreFocusOut: true,
    validateInput: (value) => (Number(value) > 0 ? undefined : 'Write a number above 0'),
  });
  return text === undefined ? undefined : Number(text);
}
