// Open Dashboard.
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function openDashboard(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open Dashboard');
  if (run) ui.dashboards.show(run);
}
