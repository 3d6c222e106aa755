// `delete RUN --step STEP`: one checkpoint, with a question that says what is lost.
import { exitCodes } from '../../../core/base/errors.js';
import { checkpointChoice, stepOf } from '../../../core/checkpoints/choose.js';
import { checkpointLoss, removeCheckpoint } from '../../../core/checkpoints/remove.js';
import type { RunEntry } from '../../../core/contracts/agentApi.js';
import type { Context } from '../../context.js';
import { bytesText } from '../../format.js';
import { demandYes } from '../../prompter.js';

/** Returns the exit code. UserError, Cancelled. */
export async function deleteCheckpoint(
  context: Context,
  entry: RunEntry,
  text: string,
  yes: boolean,
): Promise<number> {
  const client = await context.node.client();
  const step = await stepOf(client, entry, checkpointChoice(text));
  const others = await (await context.machine.registry(context.currentProfile)).list();
  const { checkpoint, facts, needs } = await checkpointLoss(client, entry, step, others);
  const { bytes, path } = checkpoint;
  for (const line of [...facts, ...needs]) context.output.note(`${line}.`);
  const question = `Delete the checkpoint of step ${step} of ${entry.id} (${bytesText(bytes)})?`;
  await demandYes(yes, question, `the checkpoint of step ${step} was not deleted`);
  await removeCheckpoint(context.machine, entry, checkpoint);
  const { id, dir } = entry;
  if (context.json) context.output.json({ type: 'deleted-checkpoint', id, dir, step, path, bytes });
  else context.output.line(`step ${step} of ${id} deleted, ${bytesText(bytes)} freed`);
  return exitCodes.done;
}
