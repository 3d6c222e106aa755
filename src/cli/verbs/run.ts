import { exitCodes, UserError } from '../../core/base/errors.js';
import { positiveInteger } from '../../core/plan/flags.js';
import type { RunRequest } from '../../core/plan/spec.js';
import { resolve } from 'node:path';
import { nodePath, pathOfThisNode } from '../../core/base/nodePath.js';
import type { Verb } from '../context.js';
import { followRun, makePrinter, rankLog } from '../follow.js';

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
    'Ctrl-C once stops the run after a checkpoint, twice stops it now. A client that is killed, or gets SIGTERM or SIGHUP, leaves the run running.',
    'Example: trainyard run local --ranks 2 -- train --model resnet20 --data images/train --eval-data images/validation --epochs 10',
  ],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const ranks = args.value('ranks');
    const nodes = args.value('nodes');
    const name = args.value('name');
    const runDir = args.value('run-dir');
    const request: RunRequest = {
      profile,
      words: args.rest,
      cwd: context.cwd,
      tensorboard: args.has('tensorboard'),
      evaluator: !args.has('no-evaluator'),
      ...(ranks === undefined ? {} : { ranks: positiveInteger(ranks, '--ranks') }),
      ...(nodes === undefined ? {} : { nodes: positiveInteger(nodes, '--nodes') }),
      ...(name === undefined ? {} : { name }),
      ...(runDir === undefined
        ? {}
        : {
            runDir:
              profile.kind === 'local' ? pathOfThisNode(resolve(context.cwd, runDir)) : nodePath(runDir),
          }),
    };
    if (args.rest.length === 0) {
      throw new UserError(
        'usage',
        'there is nothing to run',
        'Write it after --, for example: trainyard run local -- train --model resnet20 --data synthetic --steps 100',
      );
    }
    const { id, dir, before, interrupted } = await context.withProgress(async (progress) => {
      const started = await context.machine.start(request, progress);
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
