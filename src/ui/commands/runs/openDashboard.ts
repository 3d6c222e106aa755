// Open Dashboard.
import type { RunArgument, UnderWay } from '../../../contributions.js';
import { isUnderWay } from '../../../core/model/runStatus.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function openDashboard(ui: Ui, given?: RunArgument | UnderWay): Promise<void> {
  const title = 'Open Dashboard';
  const run =
    given && 'underWay' in given
      ? await pickRun(ui, undefined, title, ({ status }) => isUnderWay(status))
      : await pickRun(ui, given, title);
  if (!run) return;
  ui.dashboards.show(run);
  // Somebody wants to see it, so what was disconnected is connected again.
  const session = await (await ui.services.backend()).session(run.profile);
  if (session.isLeft) await session.machine();
}
