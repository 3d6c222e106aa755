// Clone Run.
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';
import { newRun } from './newRun.js';

/** The form, filled in like another run, which is changed there before the start. UserError. */
export async function cloneRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Clone Run');
  if (run) await newRun(ui, run);
}
