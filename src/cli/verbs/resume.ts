import { hostListOf } from '../../core/plan/request/hostWish.js';
import { requestOf } from '../../core/plan/request/request.js';
import { resumedRun } from '../../core/plan/resume.js';
import type { Verb } from '../context.js';
import { exportFlags, LiveExports } from '../liveExports.js';
import { wishFlags, wishesOf } from '../wishes.js';
import { stayWith } from './run.js';

export const resume: Verb = {
  verb: 'resume',
  summary: 'goes on with a run that failed, was stopped or interrupted',
  words: ['RUN'],
  flags: [
    { name: 'detach', help: 'return once the run has started' },
    { name: 'wait', help: 'queue until enough GPUs are free on every node of the run' },
    {
      name: 'hosts',
      value: 'A,B',
      help: "every slot of these of a cluster's hosts, in place of the hosts, nodes and ranks of RUN",
    },
    ...wishFlags,
    ...exportFlags,
    { name: 'tensorboard', help: 'bring the TensorBoard that the run serves to 127.0.0.1' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'The run goes on in its folder, from its newest valid checkpoint, with the command that it had. A program of your own finds its folder as it was.',
    'With --hosts a training keeps its global batch: with fewer ranks each takes more micro-batches of it. What RUN asked for by --gpus holds on each of these hosts.',
    'Ctrl-C once stops the run after a checkpoint, twice stops it now.',
  ],
  async run(context, args) {
    const entry = await context.resolveRun(args);
    const profile = context.currentProfile;
    const hosts = args.value('hosts');
    const typed = resumedRun(entry, profile, context.cwd, {
      ...wishesOf(args),
      hosts: hosts === undefined ? undefined : hostListOf(hosts, '--hosts'),
    });
    const tensorboard = typed.tensorboard === true || args.has('tensorboard');
    const request = requestOf({ ...typed, tensorboard, wait: args.has('wait') });
    const exports = await LiveExports.of(context, args);
    const started = await context.withProgress(async (progress) => ({
      ...(await context.machine.start(request, progress)),
      interrupted: progress.signal.aborted,
    }));
    await context.book.add(started.id, profile.name);
    return stayWith(context, args, started, exports);
  },
};
