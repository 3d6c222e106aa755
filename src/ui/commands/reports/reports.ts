// Measure Scaling and Find Best Settings. What measures is loaded here, since few sessions need it.
import type { MeasureArgument } from '../../../contributions.js';
import type { Ui } from '../ui.js';

export async function measureScaling(ui: Ui, given?: MeasureArgument): Promise<void> {
  const command = await import('./measureScaling.js');
  await command.measureScaling(ui, given);
}

export async function findBestSettings(ui: Ui, given?: MeasureArgument): Promise<void> {
  const command = await import('./findBestSettings.js');
  await command.findBestSettings(ui, given);
}
