// Check Profile, and the deep check of its page.
import type { CheckArgument } from '../../../contributions.js';
import { isCancelled } from '../../../core/base/errors.js';
import type { Progress } from '../../../core/base/progress.js';
import { checkAllReduce } from '../../../core/measure/deepCheck.js';
import { errorWords } from '../../remedies.js';
import { pickProfile } from '../pick.js';
import { withProgress } from '../progress.js';
import type { Ui } from '../ui.js';

/** What the check does now stands in the notification and on the page. */
export async function checkProfile(ui: Ui, given?: CheckArgument): Promise<void> {
  const session = await pickProfile(ui, given, 'Check Profile');
  if (!session) return;
  const { profile } = session;
  const deep = given?.deep === true;
  ui.checks.show(profile, { kind: 'checking', deep });
  try {
    const title = `Checking ${profile.name}${deep ? ' deeply' : ''}`;
    const results = await withProgress(title, async (shown) => {
      const onProgress: Progress['onProgress'] = (text) => {
        shown.onProgress?.(text);
        ui.checks.tell(profile, text);
      };
      const progress = { ...shown, onProgress };
      const found = await session.check(progress, { deep });
      const { connected } = session;
      if (!deep || !connected) return found;
      return [...found, ...(await checkAllReduce(connected, profile, found, progress))];
    });
    ui.checks.show(profile, { kind: 'done', results, at: new Date(), deep });
  } catch (error) {
    const message = isCancelled(error) ? 'The check was given up.' : errorWords(error);
    ui.checks.show(profile, { kind: 'failed', message });
    throw error;
  }
}
