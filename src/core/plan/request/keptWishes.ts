// What of an earlier run still means something on its profile, when the run is started once more.
import type { Profile } from '../../contracts/profileSchema.js';
import { priceOf } from '../../cost/runCost.js';
import type { TypedRun } from './request.js';

/**
 * What a run may cost, how long it may take or be silent, what its nodes get from the head and as
 * packages, and what it asks of Slurm.
 */
export type RunWishes = Pick<
  TypedRun,
  'budget' | 'budgetStop' | 'timeLimit' | 'silenceTimeout' | 'share' | 'requirements' | 'slurm'
>;

type Given<T> = { [K in keyof T]: T[K] | undefined };

/**
 * The limits of time, the folder and the packages for the nodes; the budget where the profile still
 * has a price to count with; and what was asked of Slurm where the profile still is one of Slurm.
 */
export function keptWishes(
  profile: Profile,
  { budget, budgetStop, timeLimit, silenceTimeout, share, requirements, slurm }: Given<RunWishes>,
): RunWishes {
  const counts = priceOf(profile) !== undefined;
  return {
    ...(budget === undefined || !counts ? {} : { budget }),
    ...(budgetStop === undefined || !counts ? {} : { budgetStop }),
    ...(timeLimit === undefined ? {} : { timeLimit }),
    ...(silenceTimeout === undefined ? {} : { silenceTimeout }),
    ...(share === undefined ? {} : { share }),
    ...(requirements === undefined ? {} : { requirements }),
    ...(slurm === undefined || profile.kind !== 'slurm' ? {} : { slurm }),
  };
}

/** The run with those of its wishes that are kept. */
export function withKept<R extends RunWishes>(
  profile: Profile,
  { budget, budgetStop, timeLimit, silenceTimeout, share, requirements, slurm, ...rest }: R,
): Omit<R, keyof RunWishes> & RunWishes {
  const wishes = { budget, budgetStop, timeLimit, silenceTimeout, share, requirements, slurm };
  return { ...rest, ...keptWishes(profile, wishes) };
}
