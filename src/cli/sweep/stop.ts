// `trainyard sweep --stop FOLDER`.
import { resolve } from 'node:path';
import { exitCodes } from '../../core/base/errors.js';
import { RunFollower } from '../../core/follow/run.js';
import { stopTrials } from '../../core/measure/stopTrials.js';
import { holdSweep } from '../../core/measure/sweepFolder.js';
import { statusOf } from '../../core/model/runStatus.js';
import type { Context } from '../context.js';
import { sweepIn } from './folder.js';

/** Stops all runs of the sweep that are not over, and waits for their ends. Returns the exit code. */
export async function stopSweep(context: Context, given: string): Promise<number> {
  const folder = resolve(context.cwd, given);
  const profile = await context.profile((await sweepIn(folder)).profile);
  const { machine, output, logger } = context;
  const stopped = await context.withProgress(async ({ signal, onProgress }) => {
    const onWait = (host: string): void => {
      onProgress(`another trainyard on ${host} is at this sweep. End that one first: this waits for it`);
    };
    const lease = await holdSweep(folder, { signal, onWait });
    try {
      return await stopTrials(machine, profile, await sweepIn(folder));
    } finally {
      await lease.release();
    }
  });
  for (const { id, dir } of stopped) {
    const follower = new RunFollower({ dir, client: () => machine.node.client(), logger });
    try {
      const phase = statusOf(await follower.follow());
      if (context.json) output.json({ type: 'stopped', id, dir, phase });
      else output.line(`${id} ${phase}`);
    } finally {
      follower.dispose();
    }
  }
  if (stopped.length === 0) output.note('no trial of it waits or is under way');
  return exitCodes.done;
}
