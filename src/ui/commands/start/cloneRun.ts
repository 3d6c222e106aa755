// Clone Run.
import type { RunArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { withKept } from '../../../core/plan/keptWishes.js';
import { askedOf } from '../../form/formSources.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';
import { editAndStart } from './editAndStart.js';
import { startOf } from './startAsked.js';

/** A new run with the command line of another one, which may be changed first. */
export async function cloneRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Clone Run');
  if (!run) return;
  const session = await (await ui.services.backend()).session(run.profile);
  const machine = await session.machine();
  const details = await (await machine.node.client()).request('run.get', { dir: run.dir });
  const asked = askedOf(run.profile, details);
  if (!asked) {
    throw new UserError('usage', `${run.id} has no run.json that can be read`, 'Choose another run');
  }
  const { recent, how } = startOf(withKept(session.profile, asked));
  await editAndStart(ui, recent, how);
}
