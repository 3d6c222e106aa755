import type { Verb } from '../context.js';
import { figuresFile } from '../../core/follow/figureLines.js';
import { followRun, makePrinter } from '../follow.js';

/** About forty step lines: enough to see where a run stands. */
const historyBytes = 10_000;

export const attach: Verb = {
  verb: 'attach',
  summary: 'follows a run that was started before',
  words: ['RUN'],
  flags: [
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
    { name: 'tensorboard', help: 'bring the TensorBoard that the run serves to 127.0.0.1' },
  ],
  details: [
    'Shows what the run has written so far (with --json all of it, else all but old step lines), then what it writes, until it ends.',
    'Ctrl-C leaves the run running. The exit code is that of the run.',
  ],
  async run(context, args) {
    const { dir } = await context.resolveRun(args);
    const details = await (await context.node.client()).request('run.get', { dir });
    const printer = makePrinter(context);
    printer.run(details.id, dir, details.run);
    return followRun(context, printer, {
      dir,
      ownsRun: false,
      tensorboard: args.has('tensorboard'),
      showLog: details.run?.program === 'command',
      stepsFrom: (details.files['metrics.jsonl'] ?? 0) - historyBytes,
      figuresFrom: (details.files[figuresFile] ?? 0) - historyBytes,
    });
  },
};
