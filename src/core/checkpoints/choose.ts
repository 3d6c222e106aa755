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
  const step = await stepOf(client, entry, choice);
  const checkpoints = await listed(client, entry);
  const found = checkpoints.find((each) => each.step === step);
  if (!found) {
    throw new UserError('usage', `${entry.id} has no checkpoint of step ${step}`, known(checkpoints));
  }
  if (found.valid) return found;
  const what = `the checkpoint of step ${step} is not valid: ${found.reason ?? 'unknown'}`;
  throw new UserError('failed', what, 'Choose another one');
}

/** The step that was chosen. UserError (usage) where no checkpoint is valid, or none was evaluated. */
export async function stepOf(
  client: AgentClient,
  entry: RunEntry,
  choice: CheckpointChoice,
): Promise<number> {
  if (choice === 'latest') {
    const checkpoints = await listed(client, entry);
    const newest = checkpoints.filter(({ valid }) => valid).at(-1);
    if (newest) return newest.step;
    throw new UserError('usage', `${entry.id} has no valid checkpoint`, known(checkpoints));
  }
  if (choice !== 'best') return choice;
  const { best } = await new OverviewReader().read(client, entry);
  if (best) return best.step;
  throw new UserError('usage', `no checkpoint of ${entry.id} was evaluated`, 'Name one by its step');
}

async function listed(client: AgentClient, { dir }: RunEntry): Promise<Checkpoint[]> {
  const { checkpoints } = await client.request('checkpoint.list', { dir });
  return [...checkpoints].sort((a, b) => a.step - b.step);
}

function known(checkpoints: readonly Checkpoint[]): string {
  const steps = checkpoints.map(({ step }) => step).join(', ');
  return steps === '' ? 'It has none' : `Its checkpoints are those of step ${steps}`;
}
