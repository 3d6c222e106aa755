// Open TensorBoard.
import type { RunArgument } from '../../../contributions.js';
import { pickRun } from '../pick.js';
import type { Ui } from '../ui.js';

export async function openTensorBoard(ui: Ui, given?: RunArgument): Promise<void> {
  const run = await pickRun(ui, given, 'Open TensorBoard');
  if (run) ui.tensorboards.show(run);
}
