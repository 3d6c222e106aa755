// Run Training: where, what, the command line, go.
import type { ProfileArgument, RunWords } from '../../../contributions.js';
import { withTrainDefaults } from '../../../core/plan/request/trainDefaults.js';
import { pickProfile } from '../pick.js';
import type { Ui } from '../ui.js';
import { chooseWhat } from './chooseWhat.js';
import { editAndStart } from './editAndStart.js';
import { startRun } from './startRun.js';

export async function runTraining(ui: Ui, given?: RunWords | ProfileArgument): Promise<void> {
  if (given && 'words' in given) {
    const { words, ranks, profile = 'local' } = given;
    const session = await (await ui.services.backend()).session(profile);
    const asked = { profile, words, ...(ranks === undefined ? {} : { ranks }) };
    await startRun(ui, withTrainDefaults(asked, session.profile));
    return;
  }
  const target = given?.profile === undefined ? undefined : { profile: given.profile };
  const session = await pickProfile(ui, target, 'Run Training');
  if (!session) return;
  const { profile } = session;
  const chosen = await chooseWhat(ui, profile.name);
  if (chosen) await editAndStart(ui, withTrainDefaults(chosen.recent, profile), chosen.how);
}
