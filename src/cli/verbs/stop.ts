import { exitCodes, UserError } from '../../core/errors.js';
import { isOver, statusOf } from '../../core/runs/registry.js';
import { RunFollower } from '../../core/runs/run.js';
import type { Verb } from '../context.js';

export const stop: Verb = {
  verb: 'stop',
  summary: 'stops a run after a checkpoint, or now',
  words: ['RUN'],
  flags: [
    { name: 'now', help: 'without a checkpoint' },
    { name: 'profile', value: 'P', help: 'whose runs; by default local' },
  ],
  details: ['Returns once the run is over. Ctrl-C here only ends the waiting.'],
  async run(context, args) {
    const entry = await context.resolveRun(args);
    const status = statusOf(entry);
    if (isOver(status)) {
      throw new UserError(
        'usage',
        `${entry.id} is not running: it is ${status}`,
        'trainyard runs lists what runs',
      );
    }
    await context.machine.stop(entry.dir, args.has('now') ? 'now' : 'checkpoint');
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
