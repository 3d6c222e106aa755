// What the lines of a run's metrics.jsonl come to. Everybody who shows a run reads them here: the
// terminal, the list, the view of the checkpoints, the dashboard. Which lines still stand after a
// restart is decided in generations.ts. The memory is bounded, however long the run.
import { ByStep } from './series/byStep.js';
import { CountedEvaluations } from './countedEvaluations.js';
import { endlessSteps } from './measured.js';
import { Generations, resumedStep } from './generations.js';
import type { EvalLine, Metric, ServerFigures, StartLine, StepLine } from '../contracts/metricsSchema.js';
import { RecentSteps } from './series/recentSteps.js';
import { SlowRankWatch } from './hosts/slowRanks.js';
import { StepRate } from './series/stepRate.js';
import type { StepTable } from './series/stepTable.js';

/** One evaluation of a checkpoint. */
export interface Evaluation {
  /** When the step that was evaluated was made, seconds since the epoch. */
  time: number;
  step: number;
  /** Fractions. */
  top1: number;
  top5: number;
  loss: number | null;
}

/** One on images that are not the run's own. It says nothing of how good the run is. */
export interface OtherEvaluation extends Pick<Evaluation, 'step' | 'top1'> {
  /** The images as they were named, and how many they are. */
  data: string;
  images: number;
}

/** How far the run is. Undefined is what the lines do not tell. */
export interface RunProgress {
  /** Updates made. */
  step: number | undefined;
  /** Undefined also where the run is stopped, and does not come to its end (`endlessSteps`). */
  totalSteps: number | undefined;
  /** Epochs done, with the part of the one under way. */
  epoch: number | undefined;
  totalEpochs: number | undefined;
  /** 0 to 1. */
  fraction: number | undefined;
}

/**
 * Of the highest top-1; of equal ones that of the lowest loss; of those the newest. `all` is in
 * order of the steps.
 */
function bestOf(all: readonly Evaluation[]): Evaluation | undefined {
  const lossOf = ({ loss }: Evaluation): number => loss ?? Infinity;
  const isBetter = (best: Evaluation, than: Evaluation): boolean =>
    best.top1 > than.top1 || (best.top1 === than.top1 && lossOf(best) < lossOf(than));
  return all.reduce<Evaluation | undefined>(
    (best, each) => (best && isBetter(best, each) ? best : each),
    undefined,
  );
}

/** A later generation that began. What it cost is the time from `since` to `time`. */
export interface Restart {
  /** The step from which it went on; undefined where its start line names none. */
  fromStep: number | undefined;
  /**
   * When that step's checkpoint was written (of step 0, when the run began); seconds since the
   * epoch.
   */
  since: number | undefined;
  /** When the generation before it began to train, and when it did; seconds since the epoch. */
  before: number;
  time: number;
}

/** Restarts kept; nobody looks at more. */
const mostRestarts = 1000;

/** Unreadable images that are told apart; a run ends long before. */
const mostBadPaths = 10_000;

/** Everything that the standing lines of one metrics.jsonl say, kept as the lines come. */
export class RunMetrics {
  /** Those that stand and count. The best one stays however many there are. */
  readonly evaluations = new ByStep<Evaluation>(bestOf);
  /** Those that stand and do not count: countedEvaluations.ts says which. */
  readonly otherEvaluations = new ByStep<OtherEvaluation>();
  /**
   * Those that stand, as the metrics tell; what is on the disk the agent knows. Times in seconds
   * since the epoch.
   */
  readonly checkpoints = new ByStep<{ step: number; time: number }>();
  private readonly generations = new Generations((step) => this.checkpoints.at(step)?.time);
  readonly recent = new RecentSteps();
  readonly slowRanks = new SlowRankWatch();
  private readonly rate = new StepRate();
  private readonly badPaths = new Set<string>();
  private readonly counted: CountedEvaluations;
  private started: StartLine | undefined;
  private began: number | undefined;
  private readonly restarted: Restart[] = [];
  /** The newest evaluation, in seconds. */
  private evaluationTook = 0;
  private stepTime = 0;
  private newest: StepLine | undefined;
  /** By a step line or a checkpoint, whichever is newer. */
  private reached: { step: number; generation: number; epoch: number | undefined } | undefined;
  private early = false;
  private serversInAll: ServerFigures[] | undefined;

  /**
   * With a table the step lines that stand are kept in it, and there are figures over all of them.
   * `ownData` names the run's own images for evaluations; undefined where its record names none.
   */
  constructor(
    readonly steps?: StepTable,
    ownData?: () => string | undefined,
  ) {
    this.counted = new CountedEvaluations(ownData);
  }

  /** Lines in the order of the file. */
  add(line: Metric): void {
    const { stands, supersedesAfter, countsFrom } = this.generations.judge(line);
    if (!stands) return;
    if (supersedesAfter !== undefined) this.supersede(supersedesAfter);
    switch (line.kind) {
      case 'start':
        if (this.started && line.generation > this.started.generation) {
          this.noteRestart(line, this.started.time);
        }
        this.began ??= line.time;
        this.started = line;
        this.serversInAll = undefined;
        this.early = false;
        this.rate.clear();
        this.recent.clear();
        this.slowRanks.begin(line);
        break;
      case 'step':
        if (countsFrom !== undefined) this.stepTime += ((line.step - countsFrom) * line.step_ms) / 1000;
        this.newest = line;
        this.reached = { step: line.step, generation: line.generation, epoch: line.epoch };
        this.rate.push(line);
        this.recent.push(line);
        this.steps?.push(line, this.imagesOf(line, countsFrom));
        break;
      case 'eval':
        this.takeEvaluation(line);
        break;
      case 'checkpoint':
        this.checkpoints.put({ step: line.step, time: line.time });
        this.reach(line);
        this.rate.checkpoint();
        break;
      case 'end':
        this.serversInAll = line.servers;
        this.early = line.early_stop === true;
        break;
      case 'bad_image':
        if (this.badPaths.size < mostBadPaths) this.badPaths.add(line.path);
        break;
      case 'host':
        this.slowRanks.push(line);
        break;
      case 'checkpoint_failed':
      case 'checkpoint_passed_over':
      case 'gap':
        break;
    }
  }

  /** What the newest generation said of itself. */
  get start(): StartLine | undefined {
    return this.started;
  }

  /** When the first generation began to train, seconds since the epoch. */
  get firstStart(): number | undefined {
    return this.began;
  }

  /**
   * Every generation after the first one that the lines tell of, the first 1,000: by a supervisor
   * or by hand (`bySupervisor`).
   */
  get restarts(): readonly Restart[] {
    return this.restarted;
  }

  /** Images that could not be read, each counted once. */
  get badImages(): number {
    return this.badPaths.size;
  }

  /** Whether the newest generation ended before its last step though nobody stopped it. */
  get endedEarly(): boolean {
    return this.early;
  }

  /** The step from which a generation goes on; undefined before it has said so. */
  resumedAt(generation: number): number | undefined {
    return this.started?.generation === generation ? resumedStep(this.started) : undefined;
  }

  /** The newest generation that has told of a step, by its own line or a checkpoint; 0: none. */
  get trained(): number {
    return this.reached?.generation ?? 0;
  }

  get lastStep(): StepLine | undefined {
    return this.newest;
  }

  get progress(): RunProgress {
    const { started, reached } = this;
    const total = started?.total_steps ?? 0;
    const totalSteps = total > 0 && total < endlessSteps ? total : undefined;
    return {
      step: reached?.step,
      totalSteps,
      epoch: reached?.epoch,
      totalEpochs: totalSteps === undefined || !started ? undefined : totalSteps / started.steps_per_epoch,
      fraction: totalSteps === undefined || !reached ? undefined : Math.min(1, reached.step / totalSteps),
    };
  }

  /** Seconds of all steps that were made, those included that a restart repeats. */
  get stepSeconds(): number {
    return this.stepTime;
  }

  /** Seconds a step takes lately, pauses for checkpoints included. */
  get secondsPerStep(): number | undefined {
    return this.rate.secondsPerStep();
  }

  /**
   * Seconds until the last step, and until the evaluation that comes after it where there are any,
   * should the run go on as it does lately.
   */
  get secondsLeft(): number | undefined {
    const { step, totalSteps } = this.progress;
    const { secondsPerStep } = this;
    if (step === undefined || totalSteps === undefined || secondsPerStep === undefined) return undefined;
    return Math.max(0, totalSteps - step) * secondsPerStep + this.evaluationTook;
  }

  /** The best evaluation: bestOf() says which. */
  get best(): Evaluation | undefined {
    return bestOf(this.evaluations.all);
  }

  /** The evaluation of the greatest step. */
  get lastEvaluation(): Evaluation | undefined {
    return this.evaluations.latest;
  }

  /**
   * Parameter servers over the whole generation, or, before its end, since the line before the
   * last.
   */
  get servers(): ServerFigures[] | undefined {
    return this.serversInAll ?? this.newest?.servers;
  }

  /** Step lines are rare: a checkpoint may tell of a later step. */
  private reach({ step, generation }: { step: number; generation: number }): void {
    const { reached, started } = this;
    const isNewer = !reached || generation > reached.generation;
    if (!isNewer && (generation < reached.generation || step <= reached.step)) return;
    const perEpoch = started?.steps_per_epoch ?? 0;
    this.reached = { step, generation, epoch: perEpoch > 0 ? step / perEpoch : undefined };
  }

  private noteRestart(line: StartLine, before: number): void {
    if (this.restarted.length >= mostRestarts) return;
    const fromStep = resumedStep(line);
    const written = fromStep === undefined ? undefined : this.checkpoints.at(fromStep)?.time;
    const since = fromStep === 0 ? this.began : written;
    this.restarted.push({ fromStep, since, before, time: line.time });
  }

  private takeEvaluation(line: EvalLine): void {
    const { step, top1, images, data } = line;
    if (this.counted.counts(line)) {
      this.evaluations.put(this.evaluationOf(line));
      this.evaluationTook = line.seconds;
    } else if (data !== undefined) this.otherEvaluations.put({ step, top1, images, data });
  }

  private evaluationOf({ step, top1, top5, loss, time }: EvalLine): Evaluation {
    const made = this.steps?.timeOf(step) ?? this.checkpoints.at(step)?.time ?? time;
    return { time: made, step, top1, top5, loss };
  }

  /**
   * Workers that do not wait for each other have not all taken as many steps as rank 0, and say
   * their images.
   */
  private imagesOf(line: StepLine, countsFrom: number | undefined): number | undefined {
    if (line.images !== undefined) return line.images;
    if (!this.started || countsFrom === undefined) return undefined;
    return (line.step - countsFrom) * this.started.global_batch;
  }

  private supersede(after: number): void {
    this.rate.clear();
    this.recent.clear();
    this.slowRanks.begin();
    this.steps?.truncate(after + 1);
    this.evaluations.cut(after);
    this.otherEvaluations.cut(after);
    this.checkpoints.cut(after);
  }
}
