// A run in MLflow. What MLflow has is asked from MLflow itself, so that an export which was ended in
// the middle, on any machine, is gone on with, and no figure is sent twice.
import { throwIfCancelled } from '../../base/errors.js';
import type { Progress } from '../../base/progress.js';
import { factsOf, type RunFacts } from '../facts.js';
import type { RunRecord } from '../runRecord.js';
import type { ExportSeries, Point } from '../series.js';
import type { CheckpointFolder, Tracker } from '../tracker.js';
import type { MlflowApi } from './api.js';
import { putCheckpoint } from './artifacts.js';
import { findExperiment, makeExperiment } from './experiment.js';
import { describeRun, runTag, statusOf } from './describe.js';
import { answers, type MlflowMetric, type MlflowRun } from './schemas.js';

/** Metrics that MLflow takes in one request. */
const mostMetrics = 1000;
/** Values of a curve that it gives in one answer. */
const mostValues = 25_000;

/** What is exported, and where to. */
export interface MlflowOptions {
  api: MlflowApi;
  experiment: string;
  /** The profile of the run. */
  profile: string;
  /** Is given what a user should know. */
  onNote: (text: string) => void;
}

/** One run. */
export class MlflowTracker implements Tracker {
  private experimentId: string | undefined;
  private run: MlflowRun | undefined;
  private described = '';
  /** Names of the curves that were sent since the run was found. */
  private readonly hasSent = new Set<string>();

  constructor(private readonly options: MlflowOptions) {}

  async demand({ signal }: Progress): Promise<void> {
    const { api, experiment } = this.options;
    this.experimentId = await findExperiment(api, experiment, { signal });
  }

  async sync(record: RunRecord, progress: Progress): Promise<void> {
    const facts = factsOf(record, this.options.profile);
    try {
      const run = (this.run ??= (await this.find(facts.id, progress)) ?? (await this.make(facts, progress)));
      if (!(await this.match(run, record, progress))) await this.replace(facts, record, progress);
      await this.send(record, progress);
      await this.describe(facts, progress);
    } catch (error) {
      // What of the last request has arrived, only the server knows.
      this.run = undefined;
      this.described = '';
      this.hasSent.clear();
      for (const series of record.series.values()) series.forget();
      throw error;
    }
  }

  async addCheckpoint(folder: CheckpointFolder, progress: Progress): Promise<void> {
    await putCheckpoint(this.options.api, this.demandRun().info, folder, progress);
  }

  finish(): Promise<string> {
    const { experiment_id: experiment, run_id: id } = this.demandRun().info;
    return Promise.resolve(`${this.options.api.address}/#/experiments/${experiment}/runs/${id}`);
  }

  private demandRun(): MlflowRun {
    if (!this.run) throw new TypeError('nothing was exported yet');
    return this.run;
  }

  private async find(id: string, { signal }: Progress): Promise<MlflowRun | undefined> {
    const { api, experiment } = this.options;
    this.experimentId ??= await findExperiment(api, experiment, { signal });
    if (this.experimentId === undefined) return undefined;
    const query = {
      experiment_ids: [this.experimentId],
      filter: `tags.\`${runTag}\` = '${id.replaceAll("'", '')}'`,
      run_view_type: 'ACTIVE_ONLY',
      max_results: 1,
      order_by: ['attributes.start_time DESC'],
    };
    const { runs = [] } = await api.post('runs/search', query, answers.runs, { signal });
    const [found] = runs;
    if (!found) return undefined;
    // A search may leave out what is large.
    const { run } = await api.get('runs/get', { run_id: found.info.run_id }, answers.run, { signal });
    return run;
  }

  private async make(facts: RunFacts, { signal }: Progress): Promise<MlflowRun> {
    const { api, experiment } = this.options;
    this.experimentId ??= await makeExperiment(api, experiment, { signal });
    const body = {
      experiment_id: this.experimentId,
      run_name: facts.name,
      start_time: facts.started,
      tags: [{ key: runTag, value: facts.id }],
    };
    const { run } = await api.post('runs/create', body, answers.run, { signal });
    return run;
  }

  /**
   * Finds out which points MLflow has. False where it has one that no longer stands, because a
   * restart repeated its step.
   */
  private async match(run: MlflowRun, record: RunRecord, progress: Progress): Promise<boolean> {
    const there = new Map((run.data.metrics ?? []).map((metric) => [metric.key, metric]));
    for (const [name, series] of record.series) {
      if (series.isMatched) continue;
      throwIfCancelled(progress.signal);
      const last = there.get(name);
      if (last === undefined && !this.hasSent.has(name)) series.match(nothing);
      else if (series.appendOnly && last) series.match(new Map([[last.step, last.value]]));
      else if (!matches(series, await this.history(run, name, progress))) return false;
    }
    return true;
  }

  private async history(run: MlflowRun, name: string, { signal }: Progress): Promise<MlflowMetric[]> {
    const values: MlflowMetric[] = [];
    for (let token = ''; ;) {
      const query = {
        run_id: run.info.run_id,
        metric_key: name,
        max_results: String(mostValues),
        ...(token === '' ? {} : { page_token: token }),
      };
      const page = await this.options.api.get('metrics/get-history', query, answers.history, { signal });
      values.push(...(page.metrics ?? []));
      token = page.next_page_token ?? '';
      if (token === '') return values;
    }
  }

  /** MLflow takes no value back. So the run is deleted there, and made once more. */
  private async replace(facts: RunFacts, record: RunRecord, progress: Progress): Promise<void> {
    const { api, onNote } = this.options;
    const { run_id: old } = this.demandRun().info;
    await api.post('runs/delete', { run_id: old }, answers.nothing, { signal: progress.signal });
    this.run = await this.make(facts, progress);
    this.described = '';
    this.hasSent.clear();
    for (const series of record.series.values()) series.match(nothing);
    onNote(
      `steps that MLflow had were repeated, and it takes no value back: run ${old} was deleted there, and ${this.run.info.run_id} has what stands`,
    );
  }

  private async send(record: RunRecord, { signal, onProgress }: Progress): Promise<void> {
    const { run_id } = this.demandRun().info;
    const waiting: { key: string; point: Point }[] = [];
    for (const [key, series] of record.series) {
      for (const point of series.unsent) waiting.push({ key, point });
    }
    for (let at = 0; at < waiting.length; at += mostMetrics) {
      throwIfCancelled(signal);
      const metrics = waiting.slice(at, at + mostMetrics).map(({ key, point }) => {
        this.hasSent.add(key);
        return { key, value: point.value, step: point.step, timestamp: point.time };
      });
      await this.options.api.post('runs/log-batch', { run_id, metrics }, answers.nothing, { signal });
      onProgress?.(`${at + metrics.length} of ${waiting.length} values sent to MLflow`);
    }
    for (const series of record.series.values()) series.matchAll();
  }

  /** Last, so that a run which says that it is over is whole. */
  private async describe(facts: RunFacts, progress: Progress): Promise<void> {
    const now = JSON.stringify(facts);
    if (now === this.described) return;
    const { api } = this.options;
    const run = this.demandRun();
    await describeRun(api, run, facts, progress);
    const { run_id } = run.info;
    const ended = facts.ended === undefined ? {} : { end_time: facts.ended };
    const update = { run_id, run_name: facts.name, status: statusOf(facts.status), ...ended };
    await api.post('runs/update', update, answers.nothing, { signal: progress.signal });
    this.described = now;
  }
}

const nothing: ReadonlyMap<number, number> = new Map();

/** Whether all that is there stands, once. What is lacking is then sent. */
function matches(series: ExportSeries, there: readonly MlflowMetric[]): boolean {
  const values = new Map(there.map(({ step, value }) => [step, value]));
  return values.size === there.length && series.match(values);
}
