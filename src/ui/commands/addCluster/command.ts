// Add Cluster. What asks and connects is loaded here, since most sessions add none.
import type { Ui } from '../ui.js';

export async function addCluster(ui: Ui): Promise<void> {
  const command = await import('./addCluster.js');
  await command.addCluster(ui);
}
