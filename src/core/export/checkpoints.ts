// Checkpoints that go along with an export.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinHere } from 'node:path';
import type { AgentNode } from '../agent/agentNode.js';
import { UserError } from '../base/errors.js';
import { join } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { chooseCheckpoint } from '../checkpoints/choose.js';
import { downloadCheckpoint } from '../checkpoints/download.js';
import { manifestName } from '../checkpoints/partial.js';
import type { RunEntry } from '../contracts/agentApi.js';
import type { Checkpoint } from '../contracts/checkpointSchema.js';
import type { Tracker } from './tracker.js';

const choices = ['best', 'last', 'all'] as const;
/** Which checkpoints of a run are exported. */
export type ExportedCheckpoints = (typeof choices)[number];

/** What somebody wrote. UserError (usage). */
export function exportedCheckpoints(text: string): ExportedCheckpoints {
  const found = choices.find((choice) => choice === text);
  if (found) return found;
  throw new UserError('usage', `"${text}" names no checkpoints`, `Write one of: ${choices.join(', ')}`);
}

/**
 * Brings each to this machine, into a folder that goes away, and gives it to the tracker. Errors
 * are those of `chooseCheckpoint`, `downloadCheckpoint` and the tracker.
 */
export async function exportCheckpoints(
  node: AgentNode,
  entry: RunEntry,
  choice: ExportedCheckpoints,
  tracker: Tracker,
  progress: Progress,
): Promise<number> {
  const chosen = await chosenOf(node, entry, choice);
  for (const { path: name, step } of chosen) {
    const folder = await mkdtemp(joinHere(tmpdir(), 'trainyard-export-'));
    try {
      const { path } = await downloadCheckpoint(node, join(entry.dir, name), folder, progress);
      const files = (await readdir(path)).sort(
        (a, b) => Number(a === manifestName) - Number(b === manifestName),
      );
      await tracker.addCheckpoint({ step, path, files }, progress);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return chosen.length;
}

async function chosenOf(
  node: AgentNode,
  entry: RunEntry,
  choice: ExportedCheckpoints,
): Promise<Checkpoint[]> {
  const client = await node.client();
  if (choice !== 'all') return [await chooseCheckpoint(client, entry, choice === 'last' ? 'latest' : 'best')];
  const { checkpoints } = await client.request('checkpoint.list', { dir: entry.dir });
  return checkpoints.filter(({ valid }) => valid).sort((a, b) => a.step - b.step);
}
