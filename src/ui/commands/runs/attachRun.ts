// Attach to a Run.
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

/** Any run of any profile, also one that another window or the command line started. */
export async function attachRun(ui: Ui): Promise<void> {
  const run = await pickRun(ui, undefined, 'Attach to a Run', () => true, { runningFirst: true });
  if (!run) return;
  ui.dashboards.show(run);
  await ui.checkpoints.choose(run);
}
