// New Run. The form itself is loaded here, since most sessions never open one.
import type { WebviewPanel } from 'vscode';
import type { ProfileArgument, RunArgument, RunWords } from '../../../contributions.js';
import type { AskedRun } from '../../../core/plan/request/commandLine.js';
import type { Ui } from '../ui.js';

/** Opens the form, filled in for this profile, like this run or with these words. UserError. */
export async function newRun(ui: Ui, from?: ProfileArgument | RunArgument | RunWords): Promise<void> {
  if (from && 'words' in from) {
    const { profile = 'local', words, ranks } = from;
    await newRunLike(ui, { profile, words: [...words], ...(ranks === undefined ? {} : { ranks }) });
    return;
  }
  const { openForm } = await import('./runForm.js');
  await openForm(ui, from);
}

/** The same, filled in with what this run asks for. */
export async function newRunLike(ui: Ui, run: AskedRun): Promise<void> {
  const { openFormWith } = await import('./runForm.js');
  await openFormWith(ui, run);
}

/** The form in a panel that the editor brought back, as it was filled in. */
export async function restoreForm(ui: Ui, panel: WebviewPanel): Promise<void> {
  const { adoptForm } = await import('./runForm.js');
  await adoptForm(ui, panel);
}
