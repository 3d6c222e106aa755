// Looks at one trial of a sweep while it runs, and asks its run to stop where others did better.
import { errorText } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { RunDetails } from '../contracts/agentApi.js';
import { figureFile } from '../follow/figureLines.js';
import type { ExtraFile, RunFollower } from '../follow/run.js';
import { CountedEvaluations } from '../model/countedEvaluations.js';
import { isOver, statusOf } from '../model/runStatus.js';
import { evaluationData } from '../plan/evaluated.js';
import type { Metric } from '../sweep/metric.js';
import { poorPlace, poorText, TrialMarks } from '../sweep/prune.js';
import type { Trial } from '../sweep/record.js';

/** Which trial, and what it is compared with. */
export interface TrialPrunerOptions {
  metric: Metric;
  /** The first step after which trials are compared. */
  first: number;
  /** As it stands now. */
  trial: () => Trial;
  /** The others, as they stand now. */
  others: () => readonly Trial[];
  /** Notes a change of the trial. */
  change: (change: Partial<Trial>) => Promise<void>;
  /** Asks the run to stop. Where that fails it is asked again. */
  stop: () => Promise<void>;
  logger: Logger;
}

/** Of one follower of one run. */
export class TrialPruner {
  /** Of metrics.jsonl and of figures.jsonl: either may be replaced. */
  private readonly ofTrainer: TrialMarks;
  private readonly ofProgram: TrialMarks;
  private looking: Promise<void> = Promise.resolve();
  private hasAsked = false;
  private fail: (error: unknown) => void = () => undefined;
  /** Rejects where a change cannot be noted; else it never settles. */
  readonly failure: Promise<never>;
  /** What the follower must follow besides, for `follow`. */
  readonly files: readonly ExtraFile[];

  constructor(private readonly options: TrialPrunerOptions) {
    const { metric, first } = options;
    this.ofTrainer = new TrialMarks(metric, first);
    const ofProgram = new TrialMarks(metric, first);
    this.ofProgram = ofProgram;
    this.files = [
      figureFile((line) => {
        ofProgram.addFigure(line);
      }, ofProgram.reset),
    ];
    this.failure = new Promise<never>((_, reject) => {
      this.fail = reject;
    });
    this.failure.catch(() => undefined); // whoever waits for it hears of it
  }

  follow(follower: RunFollower): void {
    let newest: RunDetails | undefined;
    const countAnew = (): CountedEvaluations =>
      new CountedEvaluations(() => newest && evaluationData(newest));
    let counted = countAnew();
    follower.onMetric(({ value }) => {
      if (value && (value.kind !== 'eval' || counted.counts(value))) this.ofTrainer.addMetric(value);
    });
    follower.onReset(() => {
      counted = countAnew();
      this.ofTrainer.reset();
    });
    follower.onState((details) => {
      newest = details;
      this.look(details);
    });
  }

  /** Once the last look is over. */
  async end(): Promise<void> {
    await this.looking;
  }

  private look(details: RunDetails): void {
    this.looking = this.looking.then(() => this.judge(isOver(statusOf(details)))).catch(this.fail);
  }

  private async judge(over: boolean): Promise<void> {
    const { metric, first, trial, others, change, stop, logger } = this.options;
    const { marks: known = [], poor } = trial();
    const own = this.ofProgram.marks;
    const found = own.length > 0 ? own : this.ofTrainer.marks;
    const marks = [...known, ...found.slice(known.length)];
    if (marks.length > known.length) {
      const against = others().map(({ marks: reached = [] }) => reached);
      const place = over || poor !== undefined ? undefined : poorPlace(metric, marks, against, known.length);
      const why = place === undefined ? {} : { poor: poorText(metric, first, place, marks[place] ?? null) };
      await change({ marks, ...why });
    }
    if (over || this.hasAsked || trial().poor === undefined) return;
    try {
      await stop();
      this.hasAsked = true;
    } catch (error) {
      logger.log('info', `a trial that did worse could not be stopped: ${errorText(error)}`);
    }
  }
}
