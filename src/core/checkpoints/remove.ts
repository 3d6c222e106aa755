// Deleting one checkpoint of a run: what that loses, and when it is refused.
import type { AgentClient } from '../agent/agentClient.js';
import { UserError } from '../base/errors.js';
import { join } from '../base/nodePath.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Checkpoint } from '../contracts/checkpointSchema.js';
import { OverviewReader } from '../follow/overview.js';
import { isOver, statusOf } from '../model/runStatus.js';

/** What a deletion loses, each a sentence for people without a full stop. */
export interface CheckpointLoss {
  checkpoint: Checkpoint;
  /** Its accuracy, and whether it is the best one. */
  facts: string[];
  /** Why a run may still need it; empty where none does. */
  needs: string[];
}

/**
 * What would be lost with the checkpoint of a step. `others`: the runs beside it. UserError (usage)
 * where there is no such checkpoint, and for the last valid one, without which the run cannot go on.
 */
export async function checkpointLoss(
  client: AgentClient,
  entry: RunEntry,
  step: number,
  others: readonly RunEntry[],
): Promise<CheckpointLoss> {
  const { checkpoints } = await client.request('checkpoint.list', { dir: entry.dir });
  const checkpoint = checkpoints.find((each) => each.step === step);
  if (!checkpoint) {
    throw new UserError('usage', `${entry.id} has no checkpoint of step ${step}`, 'Choose another one');
  }
  if (!checkpoint.valid) return { checkpoint, facts: ['It is not valid, so no run can use it'], needs: [] };
  const valid = checkpoints.filter((each) => each.valid).map((each) => each.step);
  const rest = valid.filter((each) => each !== step);
  if (rest.length === 0) {
    const what = `step ${step} is the last valid checkpoint of ${entry.id}, without which it cannot go on`;
    throw new UserError('usage', what, 'Delete the whole run, if it may go');
  }
  const needs: string[] = [];
  const newestLeft = Math.max(...rest);
  if (!isOver(statusOf(entry)) && step > newestLeft) {
    needs.push(
      `The run is under way: a restart would go on from step ${newestLeft} in place of step ${step}`,
    );
  }
  for (const other of others) {
    const { from } = other.run ?? {};
    if (from?.dir !== entry.dir || from.step !== step) continue;
    const own = await client.request('checkpoint.list', { dir: other.dir });
    if (own.checkpoints.some((each) => each.valid)) continue;
    needs.push(`${other.id} began with it, and has no checkpoint of its own: it could not start again`);
  }
  return { checkpoint, facts: await factsOf(client, entry, step), needs };
}

async function factsOf(client: AgentClient, entry: RunEntry, step: number): Promise<string[]> {
  const overview = await new OverviewReader().read(client, entry);
  const top1 = overview.top1At(step);
  if (top1 === undefined) return [];
  const best = overview.best?.step === step ? ', the best of the run' : '';
  return [`Its top-1 accuracy is ${(100 * top1).toFixed(1)}%${best}`];
}

/** Removes it, in one step for its readers. UserError (failed). */
export function removeCheckpoint(
  machine: Pick<Machine, 'removeFolder'>,
  { dir }: Pick<RunEntry, 'dir'>,
  { path }: Pick<Checkpoint, 'path'>,
): Promise<void> {
  return machine.removeFolder(join(dir, path));
}
