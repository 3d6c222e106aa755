// What an own program alone may ask for, as a form, a preset and a task write it.
import type { RunFile } from '../../contracts/runSchema.js';
import type { TypedRun } from './request.js';
import { shareOf } from './share.js';
import { silenceTimeoutOf } from './timeLimit.js';

type OwnWishes = Pick<TypedRun, 'silenceTimeout' | 'share'>;

/** Each as a text, which may be left out. */
interface OwnTexts {
  silenceTimeout?: string | undefined;
  share?: string | undefined;
}

/** `named` says what a field is called in an error. UserError (usage) for a text that is none. */
export function ownWishesOf(
  { silenceTimeout, share }: OwnTexts,
  named: (field: keyof OwnTexts) => string,
): OwnWishes {
  return {
    ...(silenceTimeout === undefined
      ? {}
      : { silenceTimeout: silenceTimeoutOf(silenceTimeout, named('silenceTimeout')) }),
    ...(share === undefined ? {} : { share: shareOf(share, named('share')) }),
  };
}

/** The limit of silence of a run, for another run like it: a resume has none but its own. */
export const silenceAgain = ({ program, limits }: RunFile): Pick<TypedRun, 'silenceTimeout'> =>
  program === 'command' && limits.silenceTimeout !== undefined
    ? { silenceTimeout: limits.silenceTimeout }
    : {};
