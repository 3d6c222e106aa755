// The journal of a run, events.jsonl, as its end or line by line.
import { join, type NodePath } from '../base/nodePath.js';
import { check } from '../base/validation.js';
import { eventSchema, type RunEvent } from '../contracts/runSchema.js';
import { ByteTail } from '../streams/tail.js';
import type { AgentClient } from './agentClient.js';
import { readRemote } from './remoteFile.js';

/**
 * The event in a line. Undefined for half a line, where reading began in its middle, and for a kind
 * of event that is not known here.
 */
export function eventOf(text: string): RunEvent | undefined {
  try {
    const result = check(eventSchema, JSON.parse(text));
    return result.ok ? result.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The events in the last `bytes` of a run's journal. `files`: sizes, as `run.get` answers. */
export async function lastEvents(
  client: AgentClient,
  { dir, files }: { dir: NodePath; files: Readonly<Record<string, number>> },
  bytes: number,
): Promise<RunEvent[]> {
  const size = files['events.jsonl'] ?? 0;
  const from = Math.max(0, size - bytes);
  const read = await readRemote(client, join(dir, 'events.jsonl'), from, size - from);
  return (new ByteTail(from).push(from, read) ?? []).flatMap(({ text }) => eventOf(text) ?? []);
}
