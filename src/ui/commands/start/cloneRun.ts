// Clone Run.
import type { RunArgument } from '../../../contributions.js';
import { UserError } from '../../../core/base/errors.js';
import { typedOf } from '../../../core/plan/request.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';
import { editAndStart } from './editAndStart.js';

/** A new run with the command line of another one, which may be changed first. */
export async function cloneRun(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Clone Run');
  if (!run) return;
  const backend = await ui.services.backend();
  const machine = await backend.machine(run.profile);
  const details = await (await machine.node.client()).request('run.get', { dir: run.dir });
  if (!details.run) {
    throw new UserError('usage', `${run.id} has no run.json that can be read`, 'Choose another run');
  }
  const { words, ranks, nodes, per, gpus, logdir, code } = typedOf(details.run);
  const { cwd } = details.run;
  await editAndStart(ui, {
    profile: run.profile,
    words,
    ranks,
    ...(nodes === undefined ? {} : { nodes }),
    ...(per === undefined ? {} : { per }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(logdir === undefined ? {} : { logdir }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(code === undefined ? {} : { codeFolder: code.record.folder }),
  });
}
