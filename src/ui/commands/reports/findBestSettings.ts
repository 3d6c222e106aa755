// Find Best Settings.
import * as vscode from 'vscode';
import type { MeasureArgument } from '../../../contributions.js';
import { candidatesOf } from '../../../core/bakeoff/candidates.js';
import { keptSentence, verdictSentences } from '../../../core/bakeoff/pages.js';
import { isWhole } from '../../../core/bakeoff/result.js';
import { trainDefaultsOf } from '../../../core/bakeoff/trainDefaultsOf.js';
import { bakeOff } from '../../../core/measure/bakeOff.js';
import { bakeOffPage, readBakeOff, writeBakeOff } from '../../../core/measure/bakeOffFolder.js';
import type { Profile } from '../../../core/contracts/profileSchema.js';
import { slotsOfNode } from '../../../core/scaling/plan.js';
import { errorWords } from '../../remedies.js';
import { changed } from '../profiles/saveProfile.js';
import { withProgress } from '../progress.js';
import { showError } from '../showError.js';
import type { Ui } from '../ui.js';
import { askTraining } from './askTraining.js';
import { askGoOn, findReport, offerFolder, reportFolder } from './showReport.js';

const title = 'Find Best Settings';
const usualMinutes = 10;

/** Cancel ends it with a report of what there is. The winner is saved where that is asked for. */
export async function findBestSettings(ui: Ui, given?: MeasureArgument): Promise<void> {
  const asked = await askTraining(ui, title, given);
  if (!asked) return;
  const minutes = given?.words ? (given.minutes ?? usualMinutes) : await askMinutes();
  if (minutes === undefined) return;
  const { session, words, ranks, cores } = asked;
  const { profile } = session;
  const machine = await session.machine();
  const backend = await ui.services.backend();
  const room = { ranks, cores, slots: slotsOfNode(profile, cores) };
  const found = candidatesOf(words, await machine.trainerFlags('train'), room);
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
      onRun: () => backend.monitor.refresh(),
      errorWords,
      logger: ui.services.logger,
    }),
  );
  await ui.reports.show(`Bake-off of ${profile.name}`, folder, bakeOffPage);
  const train = result.cancelled ? undefined : trainDefaultsOf(result);
  void offerToSave(ui, { ...profile, train }, verdictSentences(result)[0] ?? '', folder);
}

/** Of a profile without `train` nothing is saved. */
async function offerToSave(ui: Ui, profile: Profile, text: string, folder: string): Promise<void> {
  try {
    const save = await offerFolder(text, folder, profile.train && 'Save to Profile');
    if (!save) return;
    await (await ui.services.backend()).profiles().save(profile);
    await changed(ui);
  } catch (error) {
    void showError(ui, error);
  }
}

async function askMinutes(): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    value: String(usualMinutes),
    prompt: 'Minutes that it may take',
    ignoreFocusOut: true,
    validateInput: (value) => (Number(value) > 0 ? undefined : 'Write a number above 0'),
  });
  return text === undefined ? undefined : Number(text);
}
