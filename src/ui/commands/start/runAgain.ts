// Run Again.
import * as vscode from 'vscode';
import type { AskArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { joinWords } from '../../../core/plan/request/argv.js';
import { assertHostsLeft } from '../../../core/plan/request/hostWish.js';
import { otherKind } from '../../../core/plan/request/otherKind.js';
import { slurmTexts } from '../../../core/slurm/wish.js';
import { recentRuns, type RecentRun } from '../../recentRuns.js';
import { errorWords } from '../../remedies.js';
import { showError } from '../showError.js';
import type { Ui } from '../ui.js';
import { newRunLike } from './newRun.js';
import { startRun } from './startRun.js';

const change = 'Change…';

/**
 * The same command line on the same profile as the last time. Keys that are pressed by mistake must
 * start nothing, so their binding asks first.
 */
export async function runAgain(ui: Ui, how?: AskArgument): Promise<void> {
  const [last] = recentRuns(ui.services);
  if (!last) throw new UserError('usage', 'nothing was run yet', { kind: 'startRun' });
  // A button of a view gives an argument of its own.
  if (how?.ask !== true) {
    await startAgain(ui, last);
    return;
  }
  const answer = await vscode.window.showInformationMessage(
    `Run again on ${last.profile}?`,
    { modal: true, detail: joinWords(last.words) },
    'Start',
    change,
  );
  if (answer === 'Start') await startAgain(ui, last);
  if (answer === change) await newRunLike(ui, last);
}

/** Where the profile cannot give what the run asks for, nothing starts, and the form is offered. */
async function startAgain(ui: Ui, last: RecentRun): Promise<void> {
  const { profile } = await (await ui.services.backend()).session(last.profile);
  try {
    assertHostsLeft(profile, last.hosts);
    const lost = otherKind(profile, { ...last, slurm: slurmTexts(last.slurm ?? {}) });
    if (lost) throw new UserError('usage', lost.what, 'Start it from the form, which leaves that out');
  } catch (error) {
    ui.services.logger.log('error', errorWords(error));
    if (await showError(ui, error, change)) await newRunLike(ui, last);
    return;
  }
  await startRun(ui, last);
}
