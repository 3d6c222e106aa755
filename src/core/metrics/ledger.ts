// What a run's metrics come to: the sums of its summary. Lines of a newer generation supersede older
// ones of equal or later step.
import type { EvalLine, Metric, ServerFigures, StartLine, StepLine } from './schema.js';

interface StepRecord {
  step: number;
  generation: number;
  images: number;
  seconds: number;
}

export class MetricsLedger {
  private starts: StartLine[] = [];
  private newest: StepLine | undefined;
  private records: StepRecord[] = [];
  private evals: EvalLine[] = [];
  private checkpointSteps = new Map<number, number>();
  private newestGeneration = 0;
  private serversInAll: ServerFigures[] | undefined;

  add(metric: Metric): void {
    if ('step' in metric && metric.generation > this.newestGeneration && metric.kind !== 'eval') {
      this.supersede(metric.generation, metric.step);
    }
    switch (metric.kind) {
      case 'start':
        this.starts.push(metric);
        this.serversInAll = undefined;
        break;
      case 'step':
        this.addStep(metric);
        break;
      case 'eval':
        this.evals = this.evals.filter(({ step }) => step !== metric.step);
        this.evals.push(metric);
        break;
      case 'checkpoint':
        this.checkpointSteps.set(metric.step, metric.generation);
        break;
      case 'end':
        this.serversInAll = metric.servers;
        break;
      case 'checkpoint_failed':
      case 'checkpoint_passed_over':
      case 'host':
      case 'bad_image':
      case 'gap':
        break;
    }
  }

  /** What the newest generation said of itself. */
  get start(): StartLine | undefined {
    return this.starts.at(-1);
  }

  get lastStep(): StepLine | undefined {
    return this.newest;
  }

  /** Fraction done, when the run says how many steps it will take. */
  get progress(): number | undefined {
    const total = this.start?.total_steps ?? 0;
    return total > 0 && this.newest ? Math.min(1, this.newest.step / total) : undefined;
  }

  /** All images over the time their steps took, as far as step lines tell; checkpoint writing is left out of it. */
  get imagesPerSec(): number | undefined {
    const images = this.records.reduce((sum, record) => sum + record.images, 0);
    const seconds = this.records.reduce((sum, record) => sum + record.seconds, 0);
    return seconds > 0 ? images / seconds : undefined;
  }

  /** Median over step lines of images/s, the first line left out where there are more: it holds the warming up. */
  get medianImagesPerSec(): number | undefined {
    const rates = this.records.map(({ images, seconds }) => images / seconds);
    const settled = (rates.length > 1 ? rates.slice(1) : rates).sort((a, b) => a - b);
    const middle = Math.floor(settled.length / 2);
    const upper = settled[middle];
    const lower = settled.length % 2 === 1 ? upper : settled[middle - 1];
    return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2;
  }

  /** Parameter servers over the whole generation, or, before its end, since the line before the last. */
  get servers(): ServerFigures[] | undefined {
    return this.serversInAll ?? this.newest?.servers;
  }

  /** The evaluation of the latest step. */
  get lastEval(): EvalLine | undefined {
    return this.evals.reduce<EvalLine | undefined>((a, b) => (a && a.step > b.step ? a : b), undefined);
  }

  get bestEval(): EvalLine | undefined {
    return this.evals.reduce<EvalLine | undefined>((a, b) => (a && a.top1 >= b.top1 ? a : b), undefined);
  }

  get checkpointsWritten(): number {
    return this.checkpointSteps.size;
  }

  private addStep(line: StepLine): void {
    const before = this.records.at(-1)?.step ?? this.resumedStep(line);
    const steps = Math.max(0, line.step - before);
    // Workers that do not wait for each other have not all taken as many steps as rank 0.
    const images = line.images ?? steps * (this.start?.global_batch ?? 0);
    if (images > 0 && line.images_per_sec > 0) {
      const { step, generation } = line;
      this.records.push({ step, generation, images, seconds: images / line.images_per_sec });
    }
    this.newest = line;
  }

  /** The step from which this generation counts: 0, or that of the checkpoint it resumed from. */
  private resumedStep(line: StepLine): number {
    const digits = /step-(\d+)$/.exec(this.start?.resumed_from ?? '')?.[1];
    const resumed = digits === undefined ? 0 : Number(digits);
    return resumed < line.step ? resumed : 0;
  }

  private supersede(generation: number, step: number): void {
    this.newestGeneration = generation;
    this.records = this.records.filter((record) => record.step < step);
    this.evals = this.evals.filter((line) => line.generation >= generation || line.step < step);
    for (const [at, by] of this.checkpointSteps) {
      if (at >= step && by < generation) this.checkpointSteps.delete(at);
    }
  }
}
