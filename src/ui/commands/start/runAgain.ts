// Run Again.
import * as vscode from 'vscode';
import type { AskArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { joinWords } from '../../../core/plan/request/argv.js';
import { recentRuns } from '../../recentRuns.js';
import type { Ui } from '../ui.js';
import { newRunLike } from './newRun.js';
import { startRun } from './startRun.js';

/**
 * The same command line on the same profile as the last time. Keys that are pressed by mistake must
 * start nothing, so their binding asks first.
 */
export async function runAgain(ui: Ui, how?: AskArgument): Promise<void> {
  const [last] = recentRuns(ui.services);
  if (!last) throw new UserError('usage', 'nothing was run yet', { kind: 'startRun' });
  // A button of a view gives an argument of its own.
  if (how?.ask !== true) {
    await startRun(ui, last);
    return;
  }
  const answer = await vscode.window.showInformationMessage(
    `Run again on ${last.profile}?`,
    { modal: true, detail: joinWords(last.words) },
    'Start',
    'Change…',
  );
  if (answer === 'Start') await startRun(ui, last);
  if (answer === 'Change…') await newRunLike(ui, last);
}
