// Run Training: where, what, the command line, go.
import type { ProfileArgument, RunWords } from '../../../contributions.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { chooseWhat } from './chooseWhat.js';
import { editAndStart } from './editAndStart.js';
import { startRun } from './startRun.js';

export async function runTraining(ui: Ui, given?: RunWords | ProfileArgument): Promise<void> {
  if (given && 'words' in given) {
    const { words, ranks, profile = 'local' } = given;
    await startRun(ui, { profile, words, ...(ranks === undefined ? {} : { ranks }) });
    return;
  }
  const target = given?.profile === undefined ? undefined : { profile: given.profile };
  const session = await pickProfile(ui, target, 'Run Training');
  if (!session) return;
  const chosen = await chooseWhat(ui, session.profile.name);
  if (chosen) await editAndStart(ui, chosen.recent, chosen.how);
}
