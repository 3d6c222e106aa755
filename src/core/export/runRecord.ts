// Everything of a run that a tracker is given. Steps that a restart repeats take the place of those
// before it, by the rules of generations.ts and figures.md.
import type { RunDetails } from '../contracts/agentApi.js';
import type { FigureLine } from '../contracts/figureSchema.js';
import type { HostSample, Metric, StartLine } from '../contracts/metricsSchema.js';
import { ownName } from '../compare/comparedRun.js';
import { CountedEvaluations } from '../model/countedEvaluations.js';
import { evaluationData } from '../plan/evaluated.js';
import { Generations } from '../model/generations.js';
import { Names } from './names.js';
import { ExportSeries } from './series.js';

/** Seconds of which one sample of hosts and GPUs is exported, the first one. */
const sampleEvery = 10;

/** Fields of a line that say where and when, or that are no figures. */
const aboutTheLine = new Set(['time', 'generation', 'step', 'rank', 'seconds']);

/** Collects lines as they come. The names of the series are those that a tracker shows. */
export class RunRecord {
  private readonly curves = new Map<string, ExportSeries>();
  private readonly names = new Names();
  private readonly writtenAt = new Map<number, number>();
  private generations = new Generations((step) => this.writtenAt.get(step));
  private readonly ofMetrics = new Set<string>();
  private readonly ofFigures = new Map<string, { generation: number; last: number }>();
  private started: StartLine | undefined;
  private counted: CountedEvaluations;
  private current: RunDetails;

  constructor(details: RunDetails) {
    this.current = details;
    this.counted = this.count();
  }

  get details(): RunDetails {
    return this.current;
  }

  set details(details: RunDetails) {
    this.current = details;
  }

  /** What the newest generation said of itself. */
  get start(): StartLine | undefined {
    return this.started;
  }

  get series(): ReadonlyMap<string, ExportSeries> {
    return this.curves;
  }

  /** `raw` is the line as it stands in the file, with the figures that this version does not know. */
  addMetric(raw: object, line: Metric): void {
    const { stands, supersedesAfter } = this.generations.judge(line);
    if (!stands) return;
    if (supersedesAfter !== undefined) this.supersede(supersedesAfter);
    switch (line.kind) {
      case 'start':
        this.started = line;
        break;
      case 'checkpoint':
        this.writtenAt.set(line.step, line.time);
        break;
      case 'step':
        this.putFields('train', raw, line);
        break;
      case 'eval':
        this.putFields(this.counted.counts(line) ? 'eval' : 'eval-other', raw, line);
        break;
      case 'host':
        this.putFields(`rank/${line.rank}`, raw, line);
        break;
      case 'checkpoint_failed':
      case 'checkpoint_passed_over':
      case 'bad_image':
      case 'gap':
      case 'end':
        break;
    }
  }

  /** Of an own program. */
  addFigure(line: FigureLine): void {
    const name = ownName(line);
    const before = this.ofFigures.get(name);
    if (before !== undefined && line.generation < before.generation) return;
    const series = this.seriesOf(name);
    if (before !== undefined && line.step <= before.last) series.cut(line.step - 1);
    this.ofFigures.set(name, { generation: line.generation, last: line.step });
    if (line.value !== null) {
      series.put({ step: line.step, time: milliseconds(line.time), value: line.value });
    }
  }

  /** The x value of a sample is the seconds since the run was created. */
  addSample(host: string, sample: HostSample): void {
    const created = this.current.run?.created ?? sample.time;
    const step = Math.floor(Math.max(0, sample.time - created) / sampleEvery) * sampleEvery;
    const put = (name: string, value: number | null): void => {
      if (value === null) return;
      const series = this.seriesOf(`system/${host}/${name}`, true);
      series.put({ step, time: milliseconds(sample.time), value });
    };
    put('cpu_percent', sample.cpu_percent);
    put('memory_used', sample.memory_used);
    for (const gpu of sample.gpus) {
      put(`gpu-${gpu.index}/memory_used`, gpu.memory_used);
      put(`gpu-${gpu.index}/utilization`, gpu.utilization);
      put(`gpu-${gpu.index}/temperature`, gpu.temperature);
      put(`gpu-${gpu.index}/power_watts`, gpu.power_watts);
    }
  }

  /** metrics.jsonl was replaced; its lines come again from its start. */
  resetMetrics(): void {
    for (const name of this.ofMetrics) this.curves.get(name)?.cut(-Infinity);
    this.writtenAt.clear();
    this.generations = new Generations((step) => this.writtenAt.get(step));
    this.counted = this.count();
    this.started = undefined;
  }

  /** Likewise figures.jsonl. */
  resetFigures(): void {
    for (const name of this.ofFigures.keys()) this.seriesOf(name).cut(-Infinity);
    this.ofFigures.clear();
  }

  private count(): CountedEvaluations {
    return new CountedEvaluations(() => evaluationData(this.current));
  }

  private putFields(group: string, raw: object, line: { step: number; time: number }): void {
    for (const [field, value] of Object.entries(raw)) {
      if (typeof value !== 'number' || aboutTheLine.has(field)) continue;
      const name = `${group}/${field}`;
      this.ofMetrics.add(this.names.of(name));
      this.seriesOf(name).put({ step: line.step, time: milliseconds(line.time), value });
    }
  }

  private supersede(after: number): void {
    for (const name of this.ofMetrics) this.curves.get(name)?.cut(after);
    for (const step of this.writtenAt.keys()) if (step > after) this.writtenAt.delete(step);
  }

  private seriesOf(text: string, appendOnly = false): ExportSeries {
    const name = this.names.of(text);
    const known = this.curves.get(name);
    if (known) return known;
    const series = new ExportSeries(appendOnly);
    this.curves.set(name, series);
    return series;
  }
}

const milliseconds = (seconds: number): number => Math.round(seconds * 1000);
