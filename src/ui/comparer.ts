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

/** What is known so far of the runs that a page compares. */
export interface SoFar {
  runs: readonly ComparedRun[];
  accuracy: number | undefined;
  pending: number;
  problems: readonly string[];
}

export class Comparer {
  private readonly reader = new CompareReader(new ReducedRunFiles(join(cacheFolder(), 'compared')));

  constructor(private readonly client: (profile: string) => Promise<AgentClient>) {}

  async read({ profile, dir }: RunArgument): Promise<ComparedRun> {
    const client = await this.client(profile);
    return this.reader.read(client, profile, await client.request('run.get', { dir }));
  }

  update({ runs, accuracy, pending, problems }: SoFar, time: number): ComparisonUpdate {
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
