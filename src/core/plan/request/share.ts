// The folder that goes from the head to the other nodes before each start, as people write it.
import { UserError } from '../../base/errors.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { shareProblem, trimmedShare } from '../../contracts/share.js';

/** Relative to the run's folder. `what` is named where it is none. UserError (usage). */
export function shareOf(text: string, what: string): string {
  const folder = trimmedShare(text);
  const problem = shareProblem(folder);
  if (problem) throw new UserError('usage', `${what} ${problem.what}`, problem.hint);
  return folder;
}

/** What a run asks for, else its profile; undefined where neither does. UserError (usage). */
export function wishedShare({
  share,
  profile,
}: {
  share?: string;
  profile: Pick<Profile, 'share'>;
}): string | undefined {
  const text = share ?? profile.share;
  return text === undefined ? undefined : shareOf(text, 'the folder for the nodes');
}
