// Everything known of one run, put together from its files' lines; bounded, however long the run.
import { HostTable } from '../gpus/hostTable.js';
import { RankTable } from '../gpus/rankTable.js';
import type { HostSample, Metric, StartLine, StepLine } from '../metrics/schema.js';
import { GrowingList } from '../metrics/slices.js';
import { StepTable } from '../metrics/stepTable.js';
import type { RunDetails } from '../nodes/agentApi.js';
import { LogBuffer } from './logBuffer.js';
import { eventLevel, eventText, gapText, markOf, type Mark } from './marks.js';
import { StepRate } from './stepRate.js';
import type { RunEvent } from './schema.js';
import { isOver, statusOf, type RunStatus } from './status.js';

export interface Evaluation {
  /** When the step that was evaluated was made. */
  time: number;
  step: number;
  top1: number;
  top5: number;
  loss: number | null;
}

/** Marks kept; a run of weeks makes more checkpoints than anybody can look at. */
const mostMarks = 4000;

export class RunModel {
  readonly steps = new StepTable();
  readonly evaluations = new GrowingList<Evaluation>();
  readonly marks = new GrowingList<Mark>(mostMarks);
  readonly hosts = new Map<string, HostTable>();
  readonly ranks = new Map<number, RankTable>();
  readonly log = new LogBuffer();
  private readonly rate = new StepRate();
  private current: RunDetails | undefined;
  private started: StartLine | undefined;
  private newest: StepLine | undefined;
  private newestGeneration = 0;
  private discarded = 0;
  private saved: { step: number; time: number }[] = [];

  get details(): RunDetails | undefined {
    return this.current;
  }

  set details(details: RunDetails | undefined) {
    this.current = details;
  }

  get status(): RunStatus {
    return this.current ? statusOf(this.current) : 'unknown';
  }

  /** What the newest generation said of itself. */
  get start(): StartLine | undefined {
    return this.started;
  }

  get lastStep(): StepLine | undefined {
    return this.newest;
  }

  get best(): Evaluation | undefined {
    return this.evaluations.all.reduce<Evaluation | undefined>(
      (best, each) => (best && best.top1 >= each.top1 ? best : each),
      undefined,
    );
  }

  get totalSteps(): number | undefined {
    const total = this.started?.total_steps ?? 0;
    return total > 0 ? total : undefined;
  }

  /** Seconds until the last step, by the speed of the last steps with all their pauses; undefined when over or unknown. */
  get secondsLeft(): number | undefined {
    const { totalSteps, newest } = this;
    if (totalSteps === undefined || !newest || isOver(this.status)) return undefined;
    const perStep = this.rate.secondsPerStep();
    return perStep === undefined ? undefined : Math.max(0, totalSteps - newest.step) * perStep;
  }

  /** Checkpoints written, as the metrics tell, oldest first. */
  get checkpoints(): readonly { step: number; time: number }[] {
    return this.saved;
  }

  addMetric(metric: Metric): void {
    if ('step' in metric && metric.kind !== 'eval' && metric.generation > this.newestGeneration) {
      this.supersede(metric.generation, metric.step);
    }
    switch (metric.kind) {
      case 'start':
        this.started = metric;
        if (metric.recipe_changes?.length) {
          const changes = metric.recipe_changes.join('; ');
          this.log.add('journal', `resumed with another recipe: ${changes}`, 'warning', metric.time);
        }
        break;
      case 'step':
        this.newest = metric;
        this.steps.push(metric);
        this.rate.push(metric);
        break;
      case 'eval':
        this.addEvaluation(metric);
        break;
      case 'checkpoint':
        this.saved.push({ step: metric.step, time: metric.time });
        break;
      case 'host':
        this.rankTable(metric.rank).push(metric);
        break;
      case 'bad_image':
        this.log.add('journal', `unreadable image ${metric.path}: ${metric.message}`, 'warning', metric.time);
        break;
      case 'gap':
        this.log.add('journal', gapText(metric, 'metrics'), 'warning', metric.time);
        break;
      case 'checkpoint_failed': // the journal says it too
      case 'checkpoint_passed_over':
      case 'end':
        break;
    }
  }

  /** Counts how often something that was known stopped to stand; who holds a copy must take a new one. */
  get resets(): number {
    return this.discarded;
  }

  /** metrics.jsonl was replaced: what came from it no longer stands. */
  resetMetrics(): void {
    this.discarded++;
    this.steps.clear();
    this.evaluations.replace([]);
    this.ranks.clear();
    this.rate.clear();
    this.saved = [];
    this.newest = undefined;
    this.newestGeneration = 0;
  }

  addEvent(event: RunEvent): void {
    const mark = markOf(event);
    if (mark) this.marks.push(mark);
    this.log.add('journal', eventText(event), eventLevel(event), event.time);
  }

  addSample(host: string, sample: HostSample): void {
    this.hostTable(host).push(sample);
  }

  resetHost(host: string): void {
    this.discarded++;
    this.hosts.get(host)?.clear();
  }

  private addEvaluation(line: Extract<Metric, { kind: 'eval' }>): void {
    const { step, top1, top5, loss } = line;
    const evaluation = { time: this.steps.timeOf(step) ?? line.time, step, top1, top5, loss };
    const { all } = this.evaluations;
    const last = all.at(-1);
    if (!last || last.step < step) {
      this.evaluations.push(evaluation);
      return;
    }
    const others = all.filter((each) => each.step !== step);
    this.evaluations.replace([...others, evaluation].sort((a, b) => a.step - b.step));
  }

  private supersede(generation: number, step: number): void {
    this.newestGeneration = generation;
    this.steps.truncate(step);
    this.rate.clear();
    if (this.evaluations.all.some((each) => each.step >= step)) {
      this.evaluations.replace(this.evaluations.all.filter((each) => each.step < step));
    }
    this.saved = this.saved.filter((each) => each.step < step);
  }

  private hostTable(host: string): HostTable {
    const known = this.hosts.get(host);
    if (known) return known;
    const table = new HostTable(host);
    this.hosts.set(host, table);
    return table;
  }

  private rankTable(rank: number): RankTable {
    const known = this.ranks.get(rank);
    if (known) return known;
    const table = new RankTable();
    this.ranks.set(rank, table);
    return table;
  }
}
