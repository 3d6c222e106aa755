// Open Dashboard.
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function openDashboard(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open Dashboard');
  if (!run) return;
  ui.dashboards.show(run);
  // Somebody wants to see it, so what was disconnected is connected again.
  const session = await (await ui.services.backend()).session(run.profile);
  if (session.isLeft) await session.machine();
}
