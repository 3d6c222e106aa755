// Run Again.
import { UserError } from '../../../core/base/errors.js';
import { recentRuns } from '../../recentRuns.js';
import type { Ui } from '../ui.js';
import { startRun } from './startRun.js';

/** The same command line on the same profile as the last time. */
export async function runAgain(ui: Ui): Promise<void> {
  const [last] = recentRuns(ui.services);
  if (!last) throw new UserError('usage', 'nothing was run yet', { kind: 'startRun' });
  await startRun(ui, last);
}
