// Open Terminal in a run's folder.
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function openTerminal(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open Terminal');
  if (run) await ui.terminals.open(run);
}
