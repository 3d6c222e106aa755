// Reads runs for a comparison, each run once while it does not change. The node merges the steps of
// long runs, so that little comes over the network.
import { AgentError, type AgentClient } from '../agent/agentClient.js';
import { pieceBytes, readRemote } from '../agent/remoteFile.js';
import { join, type NodePath } from '../base/nodePath.js';
import { check } from '../base/validation.js';
import type { ComparedRun } from '../compare/comparedRun.js';
import { reduceRun } from '../compare/reduceRun.js';
import { agentErrors, type RunEntry } from '../contracts/agentApi.js';
import { metricSchema } from '../contracts/metricsSchema.js';
import { Figures } from '../model/series/figures.js';
import { evaluationData } from '../plan/evaluated.js';
import { RunMetrics } from '../model/runMetrics.js';
import { StepTable } from '../model/series/stepTable.js';
import { ByteTail } from '../streams/tail.js';
import { figuresFile, parseFigure } from './figureLines.js';

/** Step lines that the node merges a run's into: nearly twice as many as a curve has points. */
const mostRows = 780;

/** Bytes asked for at once. */
const chunkBytes = 16 * pieceBytes;

/** Where reduced runs are kept. `stamp` says of which content of the run's files. */
export interface ReducedRuns {
  get(profile: string, dir: NodePath, stamp: string): Promise<ComparedRun | undefined>;
  put(profile: string, dir: NodePath, stamp: string, run: ComparedRun): Promise<void>;
}

/** Reads one run after the other. Errors are those of `AgentClient.request`. */
export class CompareReader {
  constructor(private readonly kept?: ReducedRuns) {}

  /** `entry` as the client's node lists it. */
  async read(client: AgentClient, profile: string, entry: RunEntry): Promise<ComparedRun> {
    const { files, stamps } = await client.request('run.get', { dir: entry.dir });
    const metricBytes = files['metrics.jsonl'] ?? 0;
    const figureBytes = files[figuresFile] ?? 0;
    const state = JSON.stringify([entry.run, entry.state, entry.interrupted, entry.about]);
    const changes = ['metrics.jsonl', figuresFile].map((name) => stamps[name] ?? 'none');
    const stamp = [metricBytes, figureBytes, ...changes, state].join(' ');
    const known = await this.kept?.get(profile, entry.dir, stamp);
    if (known) return known;
    const metrics = new RunMetrics(new StepTable(), () => evaluationData(entry));
    const figures = new Figures();
    for (const raw of await metricLines(client, entry.dir, metricBytes)) {
      const line = check(metricSchema, raw);
      if (line.ok) metrics.add(line.data);
    }
    await eachLine(client, join(entry.dir, figuresFile), figureBytes, (text) => {
      const line = parseFigure(text);
      if (line) figures.add(line);
    });
    const reduced = reduceRun({ profile, entry, metrics, figures });
    await this.kept?.put(profile, entry.dir, stamp, reduced);
    return reduced;
  }
}

/** Merged by the node; where even so they are too many for one answer, each of them. */
async function metricLines(client: AgentClient, dir: NodePath, size: number): Promise<unknown[]> {
  try {
    return (await client.request('metrics.read', { dir, rows: mostRows, onlyCurves: true })).lines;
  } catch (error) {
    if (!(error instanceof AgentError) || error.code !== agentErrors.refused) throw error;
  }
  const lines: unknown[] = [];
  await eachLine(client, join(dir, 'metrics.jsonl'), size, (text) => {
    try {
      lines.push(JSON.parse(text));
    } catch {
      // a line that was cut off by a full disk
    }
  });
  return lines;
}

async function eachLine(
  client: AgentClient,
  path: NodePath,
  size: number,
  take: (text: string) => void,
): Promise<void> {
  const tail = new ByteTail(0);
  while (tail.received < size) {
    const at = tail.received;
    const bytes = await readRemote(client, path, at, Math.min(chunkBytes, size - at));
    if (bytes.length === 0) return; // the file was cut meanwhile
    for (const { text } of tail.push(at, bytes) ?? []) take(text);
  }
}
