import { exitCodes, UserError } from '../../core/base/errors.js';
import { isOver, statusOf, type RunStatus } from '../../core/model/runStatus.js';
import { RunFollower } from '../../core/follow/run.js';
import type { RunEntry } from '../../core/contracts/agentApi.js';
import type { Context, Verb } from '../context.js';
import { noteResume } from '../follow.js';

export const stop: Verb = {
  verb: 'stop',
  summary: 'stops a run after a checkpoint, or now',
  words: ['RUN'],
  flags: [
    { name: 'now', help: 'without a checkpoint; of an interrupted run, end what is left' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'Returns once the run is over. Ctrl-C here only ends the waiting.',
    'A run that is queued leaves the queue. A run that was over already is no error.',
  ],
  async run(context, args) {
    const entry = await context.resolveRun(args);
    const status = statusOf(entry);
    if (status === 'interrupted' && args.has('now')) return killLeftovers(context, entry);
    if (status === 'interrupted') {
      const what = `${entry.id} was interrupted: nobody supervises it`;
      noteResume(context, entry);
      throw new UserError('usage', what, 'End what is left of it with --now');
    }
    if (isOver(status)) return sayOver(context, entry, status);
    try {
      await context.machine.stop(entry.dir, args.has('now') ? 'now' : 'checkpoint');
    } catch (error) {
      // It may have ended since it was looked at.
      const { dir } = entry;
      const now = statusOf(await (await context.node.client()).request('run.get', { dir }));
      if (!isOver(now) || now === 'interrupted') throw error;
      return sayOver(context, entry, now);
    }
    const follower = new RunFollower({
      dir: entry.dir,
      client: () => context.node.client(),
      logger: context.logger,
    });
    try {
      const phase = statusOf(await follower.follow());
      if (context.json) context.output.json({ type: 'stopped', id: entry.id, dir: entry.dir, phase });
      else context.output.line(`${entry.id} ${phase}`);
      return exitCodes.done;
    } finally {
      follower.dispose();
    }
  },
};

/** What a stop is for is so already. */
function sayOver({ json, output }: Context, { id, dir }: RunEntry, phase: RunStatus): number {
  if (json) output.json({ type: 'stopped', id, dir, phase });
  else output.line(`${id} had ${phase} already`);
  return exitCodes.done;
}

/** The supervisor is gone; processes of the run may be left. */
async function killLeftovers(context: Context, { id, dir }: RunEntry): Promise<number> {
  const { killed, left } = await (await context.node.client()).request('run.kill', { dir });
  if (context.json) {
    context.output.json({ type: 'killed', id, dir, killed, left });
  } else {
    for (const { pid, what } of killed) context.output.line(`killed ${pid} (${what})`);
    for (const { pid, what } of left) context.output.line(`still there: ${pid} (${what})`);
    context.output.line(`${id}: ${killed.length} killed, ${left.length} left`);
  }
  return left.length === 0 ? exitCodes.done : exitCodes.failed;
}
