// Clear Filter of the Runs view.
import type { Ui } from '../ui.js';

export function clearRunFilter({ runs }: Ui): Promise<void> {
  runs.filter = '';
  return Promise.resolve();
}
