// Which checkpoint of a run a person means.
import type { AgentClient } from '../agent/agentClient.js';
import { UserError } from '../base/errors.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Checkpoint } from '../contracts/checkpointSchema.js';
import { OverviewReader } from '../follow/overview.js';

/** A step, the newest valid checkpoint, or that of the best evaluation. */
export type CheckpointChoice = number | 'latest' | 'best';

/** What somebody wrote. UserError (usage). */
export function checkpointChoice(text: string): CheckpointChoice {
  if (text === 'latest' || text === 'best') return text;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UserError(
    'usage',
    `"${text}" names no checkpoint`,
    'Write its step (a whole number), latest or best',
  );
}

/**
 * The checkpoint of a run that was chosen. UserError (usage) where there is none of that step,
 * (failed) where it is not valid: a file is missing, or has another size than its manifest names.
 */
export async function chooseCheckpoint(
  client: AgentClient,
  entry: RunEntry,
  choice: CheckpointChoice,
): Promise<Checkpoint> {
  const { checkpoints } = await client.request('checkpoint.list', { dir: entry.dir });
  const sorted = [...checkpoints].sort((a, b) => a.step - b.step);
  const known = sorted.map(({ step }) => step).join(', ');
  const there = known === '' ? 'It has none' : `Its checkpoints are those of step ${known}`;
  if (choice === 'latest') {
    const newest = sorted.filter(({ valid }) => valid).at(-1);
    if (newest) return newest;
    throw new UserError('usage', `${entry.id} has no valid checkpoint`, there);
  }
  const step = choice === 'best' ? await bestStep(client, entry) : choice;
  const found = sorted.find((each) => each.step === step);
  if (!found) throw new UserError('usage', `${entry.id} has no checkpoint of step ${step}`, there);
  if (found.valid) return found;
  const what = `the checkpoint of step ${step} is not valid: ${found.reason ?? 'unknown'}`;
  throw new UserError('failed', what, 'Choose another one');
}

async function bestStep(client: AgentClient, entry: RunEntry): Promise<number> {
  const { best } = await new OverviewReader().read(client, entry);
  if (best) return best.step;
  throw new UserError('usage', `no checkpoint of ${entry.id} was evaluated`, 'Name one by its step');
}
