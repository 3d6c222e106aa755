// Resume Run.
import type { ResumeArgument } from '../../../contributions.js';
import { requestOf } from '../../../core/plan/request/request.js';
import { resumedRun } from '../../../core/plan/resume.js';
import { pickRun } from '../pick.js';
import { withProgress } from '../progress.js';
import { tellWarnings } from '../start/tellWarnings.js';
import type { Ui } from '../ui.js';

/** Goes on with a run that ended early, in its folder, and shows it. UserError, Cancelled. */
export async function resumeRun(ui: Ui, given?: ResumeArgument): Promise<void> {
  const canGoOn = ['failed', 'stopped', 'interrupted'];
  const run = await pickRun(ui, given, 'Resume Run', ({ status }) => canGoOn.includes(status));
  if (!run) return;
  const backend = await ui.services.backend();
  const session = await backend.session(run.profile);
  const { warnings } = await withProgress(`Resume on ${run.profile}`, async (progress) => {
    const machine = await session.machine();
    const details = await (await machine.node.client()).request('run.get', { dir: run.dir });
    const typed = resumedRun(details, session.profile, '/', { hosts: given?.hosts });
    const tensorboard = typed.tensorboard === true || ui.services.setting('trainyard.openTensorBoardOnRun');
    return machine.start(requestOf({ ...typed, tensorboard }), progress);
  });
  await backend.note(run.id, run.profile);
  void tellWarnings(ui.services, run.profile, warnings);
  ui.dashboards.show(run);
  await backend.monitor.refresh(run.profile);
  await ui.checkpoints.choose(run);
}
