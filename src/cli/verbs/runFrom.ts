import { runFromCheckpoint } from '../../core/checkpoints/begin.js';
import { checkpointChoice, chooseCheckpoint } from '../../core/checkpoints/choose.js';
import type { RunEntry } from '../../core/contracts/agentApi.js';
import type { Checkpoint } from '../../core/contracts/checkpointSchema.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import { assertHostsLeft, hostListOf } from '../../core/plan/request/hostWish.js';
import { otherKind } from '../../core/plan/request/otherKind.js';
import { typedOf } from '../../core/plan/request/recordedRun.js';
import { requestOf, type TypedRun } from '../../core/plan/request/request.js';
import { slurmTexts } from '../../core/slurm/wish.js';
import type { Args } from '../args.js';
import type { Verb } from '../context.js';
import { exportFlags, LiveExports } from '../liveExports.js';
import { startAndStay } from '../startAndStay.js';
import { wishFlags, wishesOf } from '../wishes.js';

/**
 * What the earlier run asked for, without what its profile cannot give any more, and in place of it
 * what stands on the command line. UserError (usage), also where the profile has lost hosts of that
 * run and no others are named.
 */
export function typedFrom(
  entry: Pick<RunEntry, 'id' | 'run' | 'dir'>,
  checkpoint: Pick<Checkpoint, 'path'>,
  { profile, cwd }: Pick<TypedRun, 'profile' | 'cwd'>,
  args: Args,
): TypedRun {
  const typed = runFromCheckpoint(entry, checkpoint, profile, args.rest);
  const name = args.value('name');
  const hosts = args.value('hosts');
  if (hosts === undefined) {
    assertHostsLeft(profile, typed.hosts);
    const lost = leftOut(entry, profile)?.fields ?? [];
    if (lost.includes('hosts')) delete typed.hosts;
    if (lost.includes('nodes')) delete typed.nodes;
    if (lost.includes('ranks')) delete typed.ranks;
  } else {
    delete typed.nodes;
    delete typed.ranks;
    typed.hosts = hostListOf(hosts, '--hosts');
  }
  return {
    ...typed,
    ...wishesOf(args, cwd, typed),
    cwd,
    wait: args.has('wait'),
    detached: args.has('detach'),
    tensorboard: typed.tensorboard === true || args.has('tensorboard'),
    ...(name === undefined ? {} : { name }),
  };
}

/** What of the earlier run its profile, of another kind by now, cannot give. */
export function leftOut({ run }: Pick<RunEntry, 'run'>, profile: Profile): ReturnType<typeof otherKind> {
  if (!run) return undefined;
  const { slurm = {}, ...asked } = typedOf(run);
  return otherKind(profile, { ...asked, slurm: slurmTexts(slurm) });
}

export const runFrom: Verb = {
  verb: 'run-from',
  summary: "starts a new run with the weights of another run's checkpoint",
  words: ['RUN', 'STEP?'],
  flags: [
    { name: 'detach', help: 'return once the run has started, or with --wait once it is queued' },
    {
      name: 'wait',
      help: 'queue until enough GPUs are free on every node of the run; with --detach the run waits by itself',
    },
    {
      name: 'hosts',
      value: 'A,B',
      help: "every slot of these of a cluster's hosts, in place of the nodes and ranks of RUN",
    },
    ...wishFlags,
    ...exportFlags,
    { name: 'name', value: 'LABEL', help: "part of the run's name; by default the model" },
    {
      name: 'tensorboard',
      help: 'serve TensorBoard with the run, and bring it to 127.0.0.1:6006 or the next free port',
    },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  rest: true,
  restWords: '[-- FLAGS…]',
  trainer: 'flags',
  details: [
    'STEP is a step, latest (the default) or best. The new run has the command of RUN and begins at step 0: weights alone are taken, neither the optimizer nor the schedule. To go on with RUN itself there is: trainyard resume RUN',
    'Flags of train after -- take the place of those of RUN; train with all its flags takes the place of the whole command.',
    'Example: trainyard run-from last best -- --data images/other --lr 0.01 --epochs 5',
  ],
  async run(context, args) {
    const choice = checkpointChoice(args.words[1] ?? 'latest');
    const entry = await context.resolveRun(args);
    const profile = context.currentProfile;
    const checkpoint = await chooseCheckpoint(await context.node.client(), entry, choice);
    const request = requestOf(typedFrom(entry, checkpoint, { profile, cwd: context.cwd }, args));
    const lost = args.has('hosts') ? undefined : leftOut(entry, profile);
    if (lost) context.output.note(`trainyard: note: ${lost.what}; the new run leaves that out`);
    const exports = await LiveExports.of(context, args);
    return startAndStay(context, args, request, exports, request.about?.name);
  },
};
