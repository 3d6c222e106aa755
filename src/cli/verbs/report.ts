import { UserError } from '../../core/base/errors.js';
import { triable, usuallyTried } from '../../core/bakeoff/candidates.js';
import type { Args, Flag } from '../args.js';
import type { Verb } from '../context.js';
import { reportBakeOff, usualMinutes } from '../reports/bakeoff.js';
import { fewestSteps, reportScaling, usualSteps } from '../reports/scaling.js';

const ofBoth: readonly Flag[] = [
  { name: 'replicas', value: 'LIST', help: 'say 1,2,4; by default powers of two up to all slots, and all' },
  { name: 'out', value: 'FOLDER', help: 'where the report goes; by default scaling-P or bakeoff-P here' },
];
const ofScaling: readonly Flag[] = [
  {
    name: 'steps',
    value: 'N',
    help: `scaling: steps of each point, at least ${fewestSteps}; by default ${usualSteps}`,
  },
  { name: 'weak', help: 'scaling: only weak scaling: every replica keeps its batch' },
  { name: 'strong', help: 'scaling: only strong scaling: the replicas share the batch of the fewest' },
  {
    name: 'link',
    value: 'GBIT[,MS]',
    help: 'scaling: the link between hosts, in Gbit/s and ms: for predictions where no point crosses it',
  },
  { name: 'remove-runs', help: 'scaling: delete each run once it is measured' },
];
const ofBakeOff: readonly Flag[] = [
  { name: 'minutes', value: 'N', help: `bakeoff: how long it may take; by default ${usualMinutes}` },
  {
    name: 'try',
    value: 'LIST',
    help: `bakeoff: what is tried, of ${triable.join(', ')}; by default ${usuallyTried.join(',')}`,
  },
  { name: 'rounds', value: 'N', help: 'bakeoff: 1 runs every candidate once, for the same time' },
  { name: 'save', help: "bakeoff: make the winner the profile's default for trainings" },
  { name: 'keep-runs', help: 'bakeoff: keep its runs, which are deleted otherwise' },
];

export const report: Verb = {
  verb: 'report',
  summary: 'measures how a training scales, or which settings suit it, and writes a report',
  words: ['scaling|bakeoff', 'P'],
  flags: [...ofBoth, ...ofScaling, ...ofBakeOff],
  rest: true,
  restWords: '-- train FLAGS…',
  trainer: 'verb',
  details: [
    'scaling: short trainings are run one after the other, with the tag scaling. A point that fails is named in the report, and the others are kept. Ctrl-C ends the measurement with a report of what there is. The same command goes on with the points that are missing.',
    'Predictions are labelled as such. docs/scaling.md says how they are made, and how wrong they were.',
    'bakeoff: numbers of ranks, threads, strategies, all-reduce kinds and bucket sizes are tried by short trainings with the tag bake-off. All run for a short time, the better half for longer, and so on. A candidate whose rate is below that of the better half by less than the error of the measurement stays in.',
    'Example: trainyard report scaling lab --replicas 1,2,4 -- train --model resnet20 --data images/train --batch-size 32',
    'Example: trainyard report bakeoff lab --minutes 5 --save -- train --model resnet20 --data images/train',
  ],
  run(context, args) {
    const [kind] = args.words;
    if (kind === 'scaling') {
      refuse(args, ofBakeOff, kind);
      return reportScaling(context, args);
    }
    if (kind === 'bakeoff') {
      refuse(args, ofScaling, kind);
      return reportBakeOff(context, args);
    }
    const hint = 'Write scaling or bakeoff';
    throw new UserError('usage', `there is no report ${kind ?? ''}`, hint);
  },
};

/** Flags of the other report. UserError (usage). */
function refuse(args: Args, flags: readonly Flag[], kind: string): void {
  const given = flags.find(({ name }) => args.has(name));
  if (!given) return;
  throw new UserError('usage', `--${given.name} means nothing for a report ${kind}`, 'Leave it out');
}
