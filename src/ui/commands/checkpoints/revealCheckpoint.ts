// Reveal Checkpoint.
import type { CheckpointArgument, RunArgument } from '../../../contributions.js';
import { join } from '../../../core/base/nodePath.js';
import { revealFolder } from '../revealFolder.js';
import type { Ui } from '../ui.js';
import { pickCheckpoint } from './pickCheckpoint.js';

export async function revealCheckpoint(ui: Ui, given?: CheckpointArgument | RunArgument): Promise<void> {
  const chosen = await pickCheckpoint(ui, given, 'Reveal a Checkpoint', () => true);
  if (chosen) await revealFolder(ui, chosen.run, join(chosen.run.dir, chosen.checkpoint.path));
}
