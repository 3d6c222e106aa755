// Ends the runs of a sweep that nobody wants any more.
import { AgentError } from '../agent/agentClient.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Profile } from '../contracts/profileSchema.js';
import { isOver, isUnderWay, statusOf } from '../model/runStatus.js';
import { isRunOf, type Sweep } from '../sweep/record.js';

/**
 * Asks each run of the sweep that waits or is under way to stop, as `trainyard stop` does, and
 * resolves with them. The last to begin is asked first, so that none begins meanwhile. UserError
 * (connection), AgentError.
 */
export async function stopTrials(machine: Machine, profile: Profile, sweep: Sweep): Promise<RunEntry[]> {
  const runs = await (await machine.registry(profile)).list();
  const left = sweep.trials.flatMap((trial) => {
    const found = runs.find((run) => isRunOf(run, sweep, trial));
    return found && isUnderWay(statusOf(found)) ? [found] : [];
  });
  for (const { dir } of left.toReversed()) {
    try {
      await machine.stop(dir, 'checkpoint');
    } catch (error) {
      // It may have ended since it was looked at.
      if (!(error instanceof AgentError) || error.code <= 0) throw error;
      const now = await (await machine.node.client()).request('run.get', { dir });
      if (!isOver(statusOf(now))) throw error;
    }
  }
  return left;
}
