// What a run may cost, how long it may take or be silent, what its nodes get from the head and as
// packages, and what it asks of Slurm, on the command lines that start one.
import { resolve } from 'node:path';
import { UserError } from '../core/base/errors.js';
import { amountOf } from '../core/plan/request/budget.js';
import type { RunWishes } from '../core/plan/request/keptWishes.js';
import { shareOf } from '../core/plan/request/share.js';
import { silenceTimeoutOf, timeLimitOf } from '../core/plan/request/timeLimit.js';
import { slurmKeys, slurmWishOf } from '../core/slurm/wish.js';
import type { Args, Flag } from './args.js';

export const wishFlags: readonly Flag[] = [
  {
    name: 'budget',
    value: 'AMOUNT',
    help: "what the run may cost, in the profile's currency; it warns at 80% of that",
  },
  { name: 'budget-stop', help: 'stop after a checkpoint once the budget is spent' },
  {
    name: 'no-budget-stop',
    help: 'go on once the budget is spent, whatever the profile says',
    alternative: true,
  },
  {
    name: 'time-limit',
    value: 'TIME',
    help: 'stop after a checkpoint once this start has taken so long, say 90s, 30m, 2h or 1d',
  },
  {
    name: 'silence-timeout',
    value: 'TIME',
    help: 'of your own program: end it, and start it again where a restart is left, once no process has written a line or figure for so long; 0: never',
  },
  {
    name: 'share',
    value: 'DIR',
    help: "of your own program: before each start, copy this folder of the run's folder, say checkpoints, from the head to the run's other nodes",
  },
  {
    name: 'requirements',
    value: 'FILE',
    help: 'of your own program: put the Python packages of this file on each node: a requirements file, pyproject.toml, pylock.toml or uv.lock; the head finds the versions that it leaves open',
  },
  {
    name: 'slurm',
    value: 'KEY=VALUE',
    help: `in place of the profile's, of kind slurm: ${slurmKeys.join(', ')}; may be given more than once`,
  },
];

/**
 * What is given; of Slurm's keys those of `before` that are not given. Relative paths are read
 * against `folder`. UserError (usage).
 */
export function wishesOf(args: Args, folder: string, before: RunWishes = {}): RunWishes {
  const budget = args.value('budget');
  const [stop, goOn] = [args.has('budget-stop'), args.has('no-budget-stop')];
  if (stop && goOn) {
    throw new UserError('usage', '--budget-stop and --no-budget-stop were both given', 'Give one of them');
  }
  const limit = args.value('time-limit');
  const silence = args.value('silence-timeout');
  const share = args.value('share');
  const requirements = args.value('requirements') ?? before.requirements;
  const slurm = { ...before.slurm, ...slurmWishOf(args.all('slurm')) };
  return {
    ...(budget === undefined ? {} : { budget: amountOf(budget, '--budget') }),
    ...(stop || goOn ? { budgetStop: stop } : {}),
    ...(limit === undefined ? {} : { timeLimit: timeLimitOf(limit, '--time-limit') }),
    ...(silence === undefined ? {} : { silenceTimeout: silenceTimeoutOf(silence, '--silence-timeout') }),
    ...(share === undefined ? {} : { share: shareOf(share, '--share') }),
    ...(requirements === undefined ? {} : { requirements: resolve(folder, requirements) }),
    ...(Object.keys(slurm).length === 0 ? {} : { slurm }),
  };
}
