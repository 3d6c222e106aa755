// Reveal Run Folder.
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import { revealFolder } from '../revealFolder.js';
import type { Ui } from '../ui.js';

export async function revealRunFolder(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Reveal Run Folder');
  if (run) await revealFolder(ui, run, run.dir);
}
