import type { Profile } from '../../core/contracts/profileSchema.js';
import { exitCodes } from '../../core/base/errors.js';
import { positiveInteger } from '../../core/plan/flags.js';
import { requestOf, type TypedRun } from '../../core/plan/request.js';
import type { Args } from '../args.js';
import type { Verb } from '../context.js';
import { followRun, makePrinter, rankLog } from '../follow.js';

/** What stands on the command line. UserError (usage) for a number that is none. */
export function typedRun(profile: Profile, cwd: string, args: Args): TypedRun {
  const ranks = args.value('ranks');
  const nodes = args.value('nodes');
  const name = args.value('name');
  const runDir = args.value('run-dir');
  return {
    profile,
    words: args.rest,
    cwd,
    tensorboard: args.has('tensorboard'),
    evaluator: !args.has('no-evaluator'),
    ...(ranks === undefined ? {} : { ranks: positiveInteger(ranks, '--ranks') }),
    ...(nodes === undefined ? {} : { nodes: positiveInteger(nodes, '--nodes') }),
    ...(name === undefined ? {} : { name }),
    ...(runDir === undefined ? {} : { runDir }),
  };
}

export const run: Verb = {
  verb: 'run',
  summary: 'starts a run and stays with it',
  words: ['P'],
  flags: [
    { name: 'detach', help: 'return once the run has started' },
    {
      name: 'ranks',
      value: 'N',
      help: 'processes; by default what the profile has slots or GPUs for, else 2 (on this machine)',
    },
    { name: 'nodes', value: 'N', help: "how many of a cluster's hosts to use; by default all" },
    { name: 'name', value: 'LABEL', help: "part of the run's name; by default the model" },
    { name: 'run-dir', value: 'DIR', help: 'the run folder; by default one is made under the workdir' },
    {
      name: 'tensorboard',
      help: 'serve TensorBoard with the run, and bring it to 127.0.0.1:6006 or the next free port',
    },
    { name: 'no-evaluator', help: 'do not evaluate checkpoints on --eval-data while training' },
  ],
  rest: true,
  details: [
    'After -- stands a verb of the trainer with its flags, or any command, which is then started once a rank (by default one).',
    'train takes --device auto, cpu or cuda. auto, the default, takes CUDA where every node of the run has a free GPU for each of its ranks and the CUDA back end runs there, else the CPU. The first line says which, and why.',
    'Ctrl-C once stops the run after a checkpoint, twice stops it now. A client that is killed, or gets SIGTERM or SIGHUP, leaves the run running.',
    'Example: trainyard run local --ranks 2 -- train --model resnet20 --data images/train --eval-data images/validation --epochs 10',
  ],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const { machine } = context;
    const request = requestOf(typedRun(profile, context.cwd, args));
    const { id, dir, before, interrupted } = await context.withProgress(async (progress) => {
      const started = await machine.start(request, progress);
      return { ...started, interrupted: progress.signal.aborted };
    });
    await context.book.add(id, profile.name);
    const printer = makePrinter(context);
    const details = await (await context.node.client()).request('run.get', { dir });
    printer.run(id, dir, details.run);
    if (args.has('detach') && !interrupted) {
      if (!context.json) context.output.line(`attach with: trainyard attach ${id}`);
      return exitCodes.done;
    }
    return followRun(context, printer, {
      dir,
      ownsRun: true,
      tensorboard: args.has('tensorboard'),
      showLog: details.run?.program === 'command',
      interrupted,
      ...(before === undefined
        ? {}
        : {
            from: {
              metrics: before.files['metrics.jsonl'] ?? 0,
              events: before.files['events.jsonl'] ?? 0,
              log: before.files[rankLog] ?? 0,
            },
            ...(before.state === null ? {} : { staleState: before.state.updated }),
          }),
    });
  },
};
