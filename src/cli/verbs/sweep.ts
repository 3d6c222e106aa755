import { UserError } from '../../core/base/errors.js';
import type { Args, Flag } from '../args.js';
import type { Verb } from '../context.js';
import { stopSweep } from '../sweep/stop.js';
import { continueSweep, startSweep } from '../sweep/sweep.js';
import { wishFlags } from '../wishes.js';
import { run } from './run.js';

/** Of `run`, and with the same meaning for each trial. */
const ofRun = [
  ...['ranks', 'nodes', 'hosts', 'per-slot', 'per-node', 'gpus'],
  ...wishFlags.map(({ name }) => name),
  ...['tag', 'notes', 'code', 'stage', 'logdir', 'no-evaluator'],
];

/** What may be said of a sweep that goes on. */
const whenItGoesOn = ['resume', 'runs-at-once', 'detach', 'again'];

const own: readonly Flag[] = [
  {
    name: 'grid',
    value: 'NAME=VALUES',
    help: 'a setting and what to try of it, say lr=0.1,0.01; once for each setting. With --random also a range: lr=1e-4..0.1:log',
  },
  { name: 'random', value: 'N', help: 'N trials that are drawn, in place of every combination' },
  { name: 'seed', value: 'S', help: 'of --random: another number draws other trials; by default 1' },
  {
    name: 'metric',
    value: 'NAME',
    help: 'which figure makes a trial good: eval.top1, eval.top5, eval.loss, loss, images_per_sec, or what your program reports; by default eval.top1 with --eval-data, else loss',
  },
  { name: 'goal', value: 'max|min', help: 'whether more or less of it is better; by default by its name' },
  {
    name: 'prune',
    value: 'STEPS',
    help: 'stop poor trials: after STEPS, 3 times STEPS, 9 times … only the best third of them goes on',
  },
  {
    name: 'runs-at-once',
    value: 'K|gpus',
    help: 'how many trials run at the same time, by default 1; gpus: as many as have the --gpus N that each takes',
  },
  {
    name: 'detach',
    help: 'start every trial at once, and return: they wait in the queues of the nodes for their turn',
  },
  {
    name: 'name',
    value: 'NAME',
    help: 'what the sweep is called, and its trials NAME-01 …; by default sweep-P',
  },
  { name: 'out', value: 'FOLDER', help: 'where its record goes; by default sweep-NAME here' },
  {
    name: 'resume',
    value: 'FOLDER',
    help: 'go on with the sweep of this folder; P and the rest are left out',
  },
  {
    name: 'stop',
    value: 'FOLDER',
    help: 'stop the trials of this sweep that wait or are under way; P and the rest are left out',
  },
  { name: 'again', help: 'of a sweep that goes on: try what failed or was stopped once more' },
];

export const sweep: Verb = {
  verb: 'sweep',
  summary: 'tries a program with other settings, a run each, and says which did best',
  words: ['P?'],
  flags: [...own, ...run.flags.filter(({ name }) => ofRun.includes(name))],
  rest: true,
  restWords: '-- train FLAGS… | COMMAND…',
  trainer: 'verb',
  details: [
    "Of the trainer's train, each setting is one of its flags, without the dashes. In any command, {lr} stands for the value of lr.",
    'Each trial is an ordinary run with the name of the sweep and its values as tags, so trainyard runs and compare show it. A trial that fails is noted, and the others go on. A trial that takes GPUs queues for them.',
    'Ctrl-C ends the sweep, and runs that are under way go on; trials that were started with --detach begin in their turn all the same. The same command, or --resume FOLDER, goes on with the sweep: it attaches to runs that it finds, and starts only what is left.',
    'With --detach no machine has to stay connected. trainyard runs P --tag NAME shows how the trials stand, --resume FOLDER follows them to their ends, and --stop FOLDER stops them.',
    'With --prune a trial is compared with those that came as far before it, by the best value of the metric. One that is not among the best third is stopped, and is pruned. Steps are those with which the metric is reported.',
    'The exit code is 0 where all trials finished or were pruned, 5 where one did not.',
    'Example: trainyard sweep local --grid lr=0.1,0.01 --grid batch-size=32,64 -- train --model resnet20 --data images/train --eval-data images/validation --epochs 5',
    'Example: trainyard sweep lab --random 20 --grid lr=1e-4..0.1:log --gpus 1 --runs-at-once gpus --metric val/loss -- python3 train.py --lr {lr}',
  ],
  run(context, args) {
    const [resume, stop] = [args.value('resume'), args.value('stop')];
    if (stop !== undefined) {
      assertAlone(args, ['stop'], '--stop ends what is under way, and takes nothing else');
      return stopSweep(context, stop);
    }
    if (resume === undefined) return startSweep(context, args, sweep.flags);
    assertAlone(args, whenItGoesOn, 'it was said when the sweep began');
    return continueSweep(context, args, resume);
  },
};

/** UserError (usage) for anything but these flags. */
function assertAlone(args: Args, flags: readonly string[], why: string): void {
  const other = sweep.flags.find(({ name }) => args.has(name) && !flags.includes(name));
  if (!other && args.words.length === 0 && args.rest.length === 0) return;
  const what = other ? `--${other.name}` : [...args.words, ...args.rest].join(' ');
  throw new UserError('usage', `${what} does not go with --${flags[0] ?? ''}: ${why}`, 'Leave it out');
}
