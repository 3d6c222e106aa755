// New Run from This Checkpoint.
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { runFromCheckpoint as typedFrom } from '../../../core/checkpoints/begin.js';
import { editAndStart } from '../start/editAndStart.js';
import type { Ui } from '../ui.js';
import { pickCheckpoint } from './pickCheckpoint.js';

/** A new run with the command line of the checkpoint's run, which may be changed, and its weights. */
export async function runFromCheckpoint(ui: Ui, given?: CheckpointArgument | RunArgument): Promise<void> {
  const chosen = await pickCheckpoint(ui, given, 'New Run from a Checkpoint');
  if (!chosen) return;
  const { run, checkpoint } = chosen;
  const session = await (await ui.services.backend()).session(run.profile);
  const machine = await session.machine();
  const entry = await (await machine.node.client()).request('run.get', { dir: run.dir });
  const { words, ranks, nodes, gpus } = typedFrom(entry, checkpoint, session.profile);
  await editAndStart(ui, {
    profile: run.profile,
    words,
    ...(ranks === undefined ? {} : { ranks }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(gpus === undefined ? {} : { gpus }),
  });
}
