// Which lines of metrics.jsonl still stand: the one rule for what a restart supersedes.
//
// A run restarts from a checkpoint as a new generation, and repeats the steps after it. The rule:
//
// 1. A `start` line names the step from which its generation goes on (`resumed_from`, otherwise 0).
//    What older generations wrote of steps after that one is superseded, wherever in the file the
//    lines stand: a late evaluation of a repeated step does not count. The same goes for lines of
//    its own generation that stand before the `start` line.
// 2. Where the `start` line is missing, the generation's first `step` or `checkpoint` line stands
//    for it, as if the run went on from the step before. A `step` line whose step is not greater
//    than that of the one before does so too.
// 3. A `start`, `step` or `end` line of an older generation does not count after a newer one began.
// 4. `eval` and `checkpoint_passed_over` lines begin nothing: they look back.
// 5. One exception to rule 1. `trainer eval --once` by hand always names generation 1. So an
//    evaluation that is superseded counts all the same when it began (`time` less `seconds`) after
//    the newer generation had written the checkpoint of that step: it is of that checkpoint.
// 6. Of several standing evaluations or checkpoints of one step, the last line in the file counts.
// 7. The newest `step` line tells the progress until the newer generation has written one, or a
//    `checkpoint` line of a later step stands.
//
// The trainer's own reader is native/trainer/train/log/standing_evaluations.h. Both are held to the
// same histories (test/unit/core/model/evaluations.test.ts).
import type { EvalLine, Metric, StartLine } from '../contracts/metricsSchema.js';

/** What becomes of one line of metrics.jsonl, and of those before it. */
export interface Verdict {
  /** False: a newer generation superseded the line. */
  stands: boolean;
  /** Everything read so far of a later step than this one is superseded by the line. */
  supersedesAfter?: number;
  /** Of a step line: the step after which it begins to count; undefined where that is unknown. */
  countsFrom?: number;
}

const superseded: Verdict = { stands: false };
const standing: Verdict = { stands: true };

/** Judges the lines of one metrics.jsonl, one after the other. */
export class Generations {
  private newest = -1;
  /** Of the newest generation: its last step line, or the step from which it goes on. */
  private last = -1;
  private countsFrom: number | undefined;
  /** What superseded older generations, both figures rising: two numbers a restart. */
  private cuts: { generation: number; after: number }[] = [];

  /**
   * `writtenAt`: when the standing checkpoint of a step was written, seconds since the epoch;
   * undefined where none stands.
   */
  constructor(private readonly writtenAt: (step: number) => number | undefined) {}

  /** Lines in the order of the file. */
  judge(line: Metric): Verdict {
    const { newest } = this;
    switch (line.kind) {
      case 'start':
        return line.generation < newest ? superseded : this.begin(line.generation, resumedStep(line));
      case 'step':
        return line.generation < newest ? superseded : this.judgeStep(line.generation, line.step);
      case 'checkpoint':
        if (line.generation > newest) return this.beginBefore(line.generation, line.step);
        return this.isSuperseded(line.generation, line.step) ? superseded : standing;
      case 'eval':
        return this.judgeEvaluation(line);
      case 'end':
        return line.generation < newest ? superseded : standing;
      case 'checkpoint_passed_over':
      case 'checkpoint_failed':
      case 'host':
      case 'bad_image':
      case 'gap':
        return standing;
    }
  }

  private judgeStep(generation: number, step: number): Verdict {
    const begun = generation > this.newest || step <= this.last;
    const verdict = begun ? this.beginBefore(generation, step) : standing;
    const { countsFrom } = this;
    this.last = this.countsFrom = step;
    return countsFrom === undefined ? verdict : { ...verdict, countsFrom };
  }

  private judgeEvaluation({ generation, step, time, seconds }: EvalLine): Verdict {
    if (!this.isSuperseded(generation, step)) return standing;
    const written = this.writtenAt(step);
    return written !== undefined && written <= time - seconds ? standing : superseded;
  }

  private isSuperseded(generation: number, step: number): boolean {
    const cut = this.cuts.find((each) => each.generation > generation);
    return cut !== undefined && step > cut.after;
  }

  /** Without its start line. */
  private beginBefore(generation: number, step: number): Verdict {
    const verdict = this.begin(generation, step - 1);
    this.countsFrom = undefined;
    return verdict;
  }

  /** `after` undefined: the start line names no step, and the first step line decides. */
  private begin(generation: number, after: number | undefined): Verdict {
    this.newest = generation;
    this.countsFrom = after;
    this.last = after ?? Infinity;
    if (after === undefined) return standing;
    this.cuts = this.cuts.filter((each) => each.after < after);
    if (this.cuts.at(-1)?.generation !== generation) this.cuts.push({ generation, after });
    return { stands: true, supersedesAfter: after };
  }
}

/**
 * The step of the checkpoint from which a generation goes on, and 0 where it begins anew; undefined
 * where the checkpoint's name has no step.
 */
export function resumedStep({ resumed_from }: StartLine): number | undefined {
  if (resumed_from === null) return 0;
  const digits = /step-(\d+)$/.exec(resumed_from)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
