// A line on a run in a list, from the two ends of its metrics file instead of the whole of it.
import { metricSchema, type EvalLine, type StartLine, type StepLine } from '../metrics/schema.js';
import { ByteTail } from '../metrics/tail.js';
import type { RunEntry } from '../nodes/agentApi.js';
import type { AgentClient } from '../nodes/agentClient.js';
import { readRemote } from '../nodes/remoteFile.js';
import { check } from '../validation.js';
import { isOver, statusOf, type RunStatus } from './status.js';

const headBytes = 8192;
const tailBytes = 32_768;

export interface RunOverview {
  entry: RunEntry;
  status: RunStatus;
  step: number | undefined;
  totalSteps: number | undefined;
  epoch: number | undefined;
  imagesPerSec: number | undefined;
  top1: number | undefined;
}

interface Ends {
  start: StartLine | undefined;
  step: StepLine | undefined;
  eval: EvalLine | undefined;
}

/** Reads overviews, and keeps those of runs that are over: they do not change any more. */
export class OverviewReader {
  private readonly kept = new Map<string, RunOverview>();

  async read(client: AgentClient, entry: RunEntry): Promise<RunOverview> {
    const known = this.kept.get(entry.dir);
    const status = statusOf(entry);
    if (known?.status === status && known.entry.state?.updated === entry.state?.updated) return known;
    const ends = await readEnds(client, entry.dir);
    const { start, step } = ends;
    const overview: RunOverview = {
      entry,
      status,
      step: step?.step,
      totalSteps: start && start.total_steps > 0 ? start.total_steps : undefined,
      epoch: step?.epoch,
      imagesPerSec: isOver(status) ? undefined : step?.images_per_sec,
      top1: ends.eval?.top1 ?? step?.top1 ?? undefined,
    };
    if (isOver(status)) this.kept.set(entry.dir, overview);
    return overview;
  }

  /** Forgets runs that are no longer listed. */
  retain(entries: readonly RunEntry[]): void {
    const dirs = new Set(entries.map(({ dir }) => dir));
    for (const dir of this.kept.keys()) if (!dirs.has(dir)) this.kept.delete(dir);
  }
}

async function readEnds(client: AgentClient, dir: string): Promise<Ends> {
  const { files } = await client.request('run.get', { dir });
  const size = files['metrics.jsonl'] ?? 0;
  const path = `${dir}/metrics.jsonl`;
  const ends: Ends = { start: undefined, step: undefined, eval: undefined };
  if (size === 0) return ends;
  const from = Math.max(0, size - tailBytes);
  if (from > 0) collect(ends, 0, await readRemote(client, path, 0, Math.min(headBytes, from)));
  collect(ends, from, await readRemote(client, path, from, tailBytes));
  return ends;
}

function collect(ends: Ends, offset: number, bytes: Buffer): void {
  for (const { text } of new ByteTail(offset).push(offset, bytes) ?? []) {
    let raw: unknown;
    try {
      raw = JSON.parse(text);
    } catch {
      continue; // the first line of a tail may be half of one
    }
    const result = check(metricSchema, raw);
    if (!result.ok) continue;
    if (result.data.kind === 'start') ends.start = result.data;
    if (result.data.kind === 'step') ends.step = result.data;
    if (result.data.kind === 'eval') ends.eval = result.data;
  }
}
