// Runs for the page of a comparison: read, put beside each other, and written for export.
import { join } from 'node:path';
import type { RunArgument } from '../contributions.js';
import type { AgentClient } from '../core/agent/agentClient.js';
import type { ComparedRun } from '../core/compare/comparedRun.js';
import { compareRuns } from '../core/compare/comparison.js';
import { csvOf, markdownOf, recordsOf } from '../core/compare/exports.js';
import { CompareReader } from '../core/follow/compareReader.js';
import { ReducedRunFiles } from '../core/follow/reducedRunFiles.js';
import { cacheFolder } from '../core/setup/runtime.js';
import type { ComparisonUpdate, TableForm } from '../webview/protocol.js';
import { errorWords } from './remedies.js';

/** What was read so far of the runs that a page compares. */
export interface ReadSoFar {
  runs: readonly ComparedRun[];
  /** Runs that are still to be read. */
  pending: number;
  /** Why runs could not be read, a sentence each. */
  problems: readonly string[];
}

/** Milliseconds until the first of them, and the most between two: each wait is twice the last. */
const firstWait = 400;
const longestWait = 1600;

export class Comparer {
  private readonly reader = new CompareReader(new ReducedRunFiles(join(cacheFolder(), 'compared')));

  constructor(private readonly client: (profile: string) => Promise<AgentClient>) {}

  /**
   * Reads the runs in their order: what there is now and then, at last all of it. The node reads
   * the next run while this side works on the last one.
   */
  async *readAll(chosen: readonly RunArgument[]): AsyncGenerator<ReadSoFar> {
    const runs: ComparedRun[] = [];
    const problems: string[] = [];
    let handedOn = performance.now();
    let wait = firstWait;
    const begin = (run: RunArgument | undefined): Promise<ComparedRun> | undefined => {
      const read = run && this.read(run);
      read?.catch(() => undefined); // it is waited for, and its error told, at its turn
      return read;
    };
    let next = begin(chosen[0]);
    for (const [at, run] of chosen.entries()) {
      const current = next;
      next = begin(chosen[at + 1]);
      try {
        if (current) runs.push(await current);
      } catch (error) {
        problems.push(`${run.id} of ${run.profile} could not be read: ${errorWords(error)}`);
      }
      const pending = chosen.length - at - 1;
      if (pending > 0 && performance.now() - handedOn < wait) continue;
      yield { runs: [...runs], pending, problems: [...problems] };
      handedOn = performance.now();
      wait = Math.min(longestWait, 2 * wait);
    }
  }

  private async read({ profile, dir }: RunArgument): Promise<ComparedRun> {
    const client = await this.client(profile);
    return this.reader.read(client, profile, await client.request('run.get', { dir }));
  }

  /** `accuracy`: the fraction whose time and price are asked for. */
  update(
    { runs, pending, problems }: ReadSoFar,
    accuracy: number | undefined,
    time: number,
  ): ComparisonUpdate {
    const comparison = compareRuns(runs, accuracy);
    return {
      type: 'comparison',
      runs: runs.map(({ id, name, tags, profile, dir, status, curves }) => {
        return { id, label: name, tags, profile, dir, status, curves };
      }),
      differences: comparison.differences,
      columns: comparison.columns.map(({ key, title, better, values, texts }) => {
        return { key, title, better, values, texts };
      }),
      accuracy: comparison.accuracy,
      pending,
      problems: [...problems],
      time,
    };
  }

  /** The text of a file; JSON is one record a line, as the command line prints it. */
  text(form: TableForm, runs: readonly ComparedRun[], accuracy: number | undefined): string {
    const comparison = compareRuns(runs, accuracy);
    if (form === 'csv') return csvOf(comparison);
    if (form === 'markdown') return markdownOf(comparison);
    return recordsOf(comparison)
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('');
  }
}
