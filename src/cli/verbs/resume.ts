import { gpuWishOf } from '../../core/plan/request/gpuWish.js';
import { hostListOf } from '../../core/plan/request/hostWish.js';
import { requestOf } from '../../core/plan/request/request.js';
import { resumedRun } from '../../core/plan/resume.js';
import { countOf } from '../args.js';
import type { Verb } from '../context.js';
import { exportFlags, LiveExports } from '../liveExports.js';
import { startAndStay } from '../startAndStay.js';
import { wishFlags, wishesOf } from '../wishes.js';
import { underOtherHead } from '../otherHead.js';

export const resume: Verb = {
  verb: 'resume',
  summary: 'goes on with a run that failed, was stopped or interrupted',
  words: ['RUN'],
  flags: [
    { name: 'detach', help: 'return once the run has started, or with --wait once it is queued' },
    {
      name: 'wait',
      help: 'queue until enough GPUs are free on every node of the run; with --detach the run waits by itself',
    },
    {
      name: 'hosts',
      value: 'A,B',
      help: "every slot of these of a cluster's hosts, in place of the hosts, nodes and ranks of RUN",
    },
    {
      name: 'head',
      value: 'HOST',
      help: 'when the head is lost: HOST, which kept a copy of the run folder or shares its disk, is the head from now on',
    },
    { name: 'ranks', value: 'N', help: 'so many processes, in place of the ranks of RUN' },
    {
      name: 'gpus',
      value: 'N|LIST',
      help: 'on each node: any N free GPUs, or these (0,2), in place of those that RUN asked for',
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
    'With --hosts or --ranks a training keeps its global batch: with fewer ranks each takes more micro-batches of it. What RUN asked for by --gpus holds on each of these hosts, unless --gpus is given.',
    'With --head the profile is changed too, and a head that does not answer is left out of the run. It is asked first: a run that is under way or newer there stays there.',
    'Ctrl-C once stops the run after a checkpoint, twice stops it now.',
  ],
  async run(context, args) {
    const head = args.value('head');
    const moved = head === undefined ? undefined : await underOtherHead(context, args, head);
    const entry = moved?.details ?? (await context.resolveRun(args));
    const profile = context.currentProfile;
    const [hosts, ranks, gpus] = [args.value('hosts'), args.value('ranks'), args.value('gpus')];
    const typed = resumedRun(entry, profile, context.cwd, {
      ...wishesOf(args, context.cwd),
      hosts: hosts === undefined ? moved?.hosts : hostListOf(hosts, '--hosts'),
      ranks: ranks === undefined ? undefined : countOf('--ranks', ranks, 2),
      gpus: gpus === undefined ? undefined : gpuWishOf(gpus, '--gpus').text,
    });
    const tensorboard = typed.tensorboard === true || args.has('tensorboard');
    const request = requestOf({
      ...typed,
      tensorboard,
      wait: args.has('wait'),
      detached: args.has('detach'),
    });
    const exports = await LiveExports.of(context, args);
    return startAndStay(context, args, request, exports);
  },
};
