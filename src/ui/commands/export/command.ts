// Export Run. Trackers and questions are loaded here, since few sessions export.
import type { RunArgument } from '../../../contributions.js';
import type { Ui } from '../ui.js';

export async function exportRun(ui: Ui, given?: RunArgument): Promise<void> {
  const command = await import('./exportRun.js');
  await command.exportRun(ui, given);
}
