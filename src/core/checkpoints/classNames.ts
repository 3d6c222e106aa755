// What the classes of a checkpoint are called.
import * as z from 'zod/mini';
import type { AgentClient } from '../agent/agentClient.js';
import { readRemote } from '../agent/remoteFile.js';
import { UserError } from '../base/errors.js';
import { join } from '../base/nodePath.js';
import { check } from '../base/validation.js';
import type { RunEntry } from '../contracts/agentApi.js';
import { checkpointStateSchema, type Checkpoint } from '../contracts/checkpointSchema.js';

const namesSchema = z.pick(checkpointStateSchema, { class_names: true });
/** Bytes. */
const mostState = 16 * 1024 * 1024;

/** In the order of the outputs. UserError (failed, connection). */
export async function classNamesOf(
  client: AgentClient,
  entry: RunEntry,
  checkpoint: Pick<Checkpoint, 'path' | 'step'>,
): Promise<string[]> {
  const path = join(entry.dir, checkpoint.path, 'state.json');
  const text = (await readRemote(client, path, 0, mostState)).toString('utf8');
  const wrong = (cause?: unknown): UserError =>
    new UserError('failed', `${path} cannot be read`, 'Choose another checkpoint', { cause });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(error);
  }
  const read = check(namesSchema, value);
  if (!read.ok) throw wrong();
  return read.data.class_names;
}
