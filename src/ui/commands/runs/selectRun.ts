// Show Checkpoints of a run.
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function selectRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Show Checkpoints');
  if (run) await ui.checkpoints.choose(run);
}
