// New Run from This Checkpoint.
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { runFromCheckpoint as typedFrom } from '../../../core/checkpoints/begin.js';
import { newRunLike } from '../start/newRun.js';
import type { Ui } from '../ui.js';
import { pickCheckpoint } from './pickCheckpoint.js';

/** The form, filled in with the settings of the checkpoint's run, and its weights. */
export async function runFromCheckpoint(ui: Ui, given?: CheckpointArgument | RunArgument): Promise<void> {
  const chosen = await pickCheckpoint(ui, given, 'New Run from a Checkpoint');
  if (!chosen) return;
  const { run, checkpoint } = chosen;
  const session = await (await ui.services.backend()).session(run.profile);
  const machine = await session.machine();
  const entry = await (await machine.node.client()).request('run.get', { dir: run.dir });
  const typed = typedFrom(entry, checkpoint, session.profile);
  await newRunLike(ui, { ...typed, profile: run.profile });
}
