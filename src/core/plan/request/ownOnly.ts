// What only a program of one's own may ask for.
import { UserError } from '../../base/errors.js';

interface OfOwn {
  per?: 'slot' | 'node' | undefined;
  silenceTimeout?: number | undefined;
  share?: string | undefined;
  requirements?: string | undefined;
  debug?: number | undefined;
  code?: object | undefined;
}

/** UserError (usage) where that is asked for with a verb of our trainer. */
export function assertNothingOfOwn(
  { per, silenceTimeout, share, requirements, debug, code }: OfOwn,
  verb: string,
): void {
  if (per === 'node') {
    const what = `${verb} is a verb of the trainer, which has one process for each slot, not for each node`;
    throw new UserError('usage', what, 'Name a program of your own');
  }
  if (silenceTimeout !== undefined) {
    const what = `a limit of silence is for programs of your own, and ${verb} is a verb of the trainer`;
    throw new UserError('usage', what, 'Leave it out: hangTimeout of the profile watches a training');
  }
  if (share !== undefined) {
    const what = `a folder is copied to the nodes for programs of your own, and ${verb} is a verb of the trainer`;
    throw new UserError('usage', what, 'Leave it out: a training needs no such folder');
  }
  if (requirements !== undefined) {
    const what = `Python packages are put on the nodes for programs of your own, and ${verb} is a verb of the trainer`;
    throw new UserError('usage', what, 'Leave them out: a training brings its own');
  }
  if (debug !== undefined) {
    const what = `a debugger attaches to programs of your own in Python, and ${verb} is a verb of the trainer`;
    throw new UserError('usage', what, 'Start a program of your own');
  }
  if (code) {
    const what = 'code goes along with programs of your own, not with a verb of the trainer';
    throw new UserError('usage', what, 'Start it without a code folder');
  }
}
