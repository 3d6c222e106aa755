// Run Demo.
import type { ProfileArgument } from '../../../contributions.js';
import { prepareDemoData } from '../../../core/cluster/demoData.js';
import { localProfile } from '../../../core/contracts/profileSchema.js';
import { demoTraining } from '../../../core/plan/demo.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';
import { startRun } from './startRun.js';

/**
 * Draws images where there are none yet, and trains a small network on them; on the default profile
 * unless told.
 */
export async function runDemo(ui: Ui, given?: ProfileArgument): Promise<void> {
  const usual = ui.services.setting('trainyard.defaultProfile') || localProfile.name;
  const session = await (await ui.services.backend()).session(given?.profile ?? usual);
  const { profile } = session;
  const data = await withProgress('Trainyard demo', async (progress) =>
    prepareDemoData(await session.machine(), profile, progress),
  );
  await startRun(ui, { profile: profile.name, words: demoTraining(data), name: 'demo' });
}
