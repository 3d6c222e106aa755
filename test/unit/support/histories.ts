// Random histories of a run, as metrics.jsonl tells them: restarts from checkpoints that repeat
// steps, late evaluations of steps that a restart superseded, lines that cannot be read. Beside the
// lines stands what is true of the run at their end, counted by the simulation itself.
import fc from 'fast-check';
import type { Metric } from '../../../src/core/contracts/metricsSchema.js';
import { evalLine, startLine, stepLine } from './lines.js';

const totalSteps = 300;
const stepsPerEpoch = 25;
const ownData = '/images/validation';

export type Act =
  | { kind: 'step'; steps: number; rate: number }
  | { kind: 'checkpoint'; steps: number }
  | { kind: 'eval'; back: number; top1: number; late: boolean }
  | { kind: 'late-eval'; which: number; top1: number }
  /**
   * `trainer eval --once` by hand: its line names generation 1, whichever wrote the checkpoint.
   * `other`: on images that are not the run's own, once its own are known.
   */
  | { kind: 'by-hand'; back: number; top1: number; other: boolean }
  | { kind: 'restart'; back: number }
  | { kind: 'host' }
  | { kind: 'torn' }
  | { kind: 'unknown' }
  /** The readers look at what is there so far. */
  | { kind: 'look' };

/**
 * Few values, so that equal ones are frequent. Each reads differently with one decimal in percent.
 */
const top1 = fc.integer({ min: 1, max: 12 }).map((value) => value / 16);
const steps = fc.integer({ min: 1, max: 5 });

export const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('step' as const),
        steps,
        rate: fc.integer({ min: 1, max: 999 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const), steps: fc.nat(3) }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('eval' as const), back: fc.nat(2), top1, late: fc.boolean() }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('late-eval' as const), which: fc.nat(9), top1 }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('by-hand' as const),
        back: fc.nat(2),
        top1,
        other: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const), back: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.constantFrom<Act>({ kind: 'host' }, { kind: 'torn' }, { kind: 'unknown' }) },
    { weight: 2, arbitrary: fc.constant<Act>({ kind: 'look' }) },
  ),
  { minLength: 5, maxLength: 60 },
);

export interface Truth {
  /** Of the newest step line or checkpoint; undefined before there is one. */
  step: number | undefined;
  /** Whether there is a step line. */
  hasLine: boolean;
  best: { step: number; top1: number } | undefined;
  /** Of the last step's evaluation. A fraction. */
  last: number | undefined;
  /** Steps whose evaluations stand, in order. */
  evaluated: readonly number[];
  /** Images/s. */
  median: number | undefined;
  /** Steps of the checkpoints that stand, oldest first. */
  checkpoints: readonly number[];
}

/** A run to which the acts happen. */
export class History {
  /** Text of metrics.jsonl between two looks. */
  readonly pieces: string[] = [''];
  private time = 1000;
  private generation = 1;
  private step = 0;
  /** Step from which the generation goes on. */
  private from = 0;
  /**
   * Step of the newest step line or checkpoint: an older generation's until the newest has made a
   * step.
   */
  private newest: number | undefined;
  private hasLine = false;
  private rates: { step: number; rate: number }[] = [];
  private evals = new Map<number, number>();
  /** Whether a line has named the run's own images. */
  private ownKnown = false;
  private checkpoints: number[] = [];
  /** Checkpoints of older generations that a restart superseded. */
  private superseded: { generation: number; step: number; time: number }[] = [];

  constructor(list: readonly Act[]) {
    this.start(null);
    for (const act of list) this.happen(act);
  }

  get truth(): Truth {
    const standing = [...this.evals].sort(([a], [b]) => a - b);
    const best = standing.reduce<[number, number] | undefined>(
      (a, b) => (a && a[1] >= b[1] ? a : b),
      undefined,
    );
    const all = this.rates.map(({ rate }) => rate);
    const settled = (all.length > 1 ? all.slice(1) : all).sort((a, b) => a - b);
    const [lower, upper] = [settled[(settled.length - 1) >> 1], settled[settled.length >> 1]];
    return {
      step: this.newest,
      hasLine: this.hasLine,
      best: best && { step: best[0], top1: best[1] },
      evaluated: standing.map(([step]) => step),
      last: standing.at(-1)?.[1],
      median: lower === undefined || upper === undefined ? undefined : (lower + upper) / 2,
      checkpoints: this.checkpoints,
    };
  }

  private happen(act: Act): void {
    const { generation } = this;
    const time = ++this.time;
    switch (act.kind) {
      case 'step':
        this.step = Math.min(totalSteps, this.step + act.steps);
        if (this.step <= Math.max(this.from, this.rates.at(-1)?.step ?? 0)) break;
        this.newest = this.step;
        this.hasLine = true;
        this.rates.push({ step: this.step, rate: act.rate });
        this.write(stepLine(this.step, { time, generation, images_per_sec: act.rate }));
        break;
      case 'checkpoint':
        this.step = Math.min(totalSteps, this.step + act.steps);
        if (this.step <= (this.checkpoints.at(-1) ?? 0)) break;
        this.checkpoints.push(this.step);
        this.newest = this.step;
        this.write({ ...this.about(this.step), kind: 'checkpoint', bytes: 1e6, write_ms: 5 });
        break;
      case 'eval': {
        const step = this.checkpoints.at(-1 - act.back);
        if (step === undefined) break;
        this.evals.set(step, act.top1);
        // Of the step from which this generation goes on, the evaluator before may have the last
        // word.
        const by = act.late && generation > 1 && step <= this.from ? generation - 1 : generation;
        this.ownKnown = true;
        this.write(evalLine(step, act.top1, { time, generation: by, data: ownData }));
        break;
      }
      case 'late-eval': {
        const late = this.superseded[act.which % Math.max(1, this.superseded.length)];
        if (late) this.write(evalLine(late.step, act.top1, late));
        break;
      }
      case 'by-hand': {
        const step = this.checkpoints.at(-1 - act.back);
        if (step === undefined) break;
        const isOther = act.other && this.ownKnown;
        if (!isOther) this.evals.set(step, act.top1);
        const data = isOther ? '/images/train' : ownData;
        this.write(evalLine(step, act.top1, { time, generation: 1, seconds: 0.5, data, once: true }));
        break;
      }
      case 'restart':
        this.restart(this.checkpoints.length - 1 - act.back);
        break;
      case 'host': {
        const memory = { memory_used: 5, memory_peak: 6 };
        this.write({
          kind: 'host',
          time,
          generation,
          step: this.step,
          rank: 0,
          host: 'h',
          device: 'cpu',
          ...memory,
        });
        break;
      }
      case 'torn':
        this.text('{"kind":"step","time":1,"generation":1,"st\n');
        break;
      case 'unknown':
        this.text('{"kind":"weather","sun":1}\n');
        break;
      case 'look':
        this.pieces.push('');
        break;
    }
  }

  /**
   * From the checkpoint at `index`, or from the start of the run where there is none: the newer
   * ones are damaged.
   */
  private restart(index: number): void {
    const from = this.checkpoints[index] ?? 0;
    const passed = this.checkpoints.filter((step) => step > from);
    const { generation, time } = this;
    this.superseded.push(...passed.map((step) => ({ generation, step, time })));
    this.checkpoints = this.checkpoints.filter((step) => step <= from);
    for (const step of [...this.evals.keys()]) if (step > from) this.evals.delete(step);
    this.rates = this.rates.filter(({ step }) => step <= from);
    this.generation++;
    this.step = this.from = from;
    this.start(from === 0 ? null : from);
    for (const step of passed.reverse()) {
      this.write({ ...this.about(step), kind: 'checkpoint_passed_over', reason: 'damaged' });
    }
  }

  private start(from: number | null): void {
    const resumed_from = from === null ? null : `step-${String(from).padStart(8, '0')}`;
    const { generation } = this;
    this.write(
      startLine({
        time: ++this.time,
        generation,
        resumed_from,
        total_steps: totalSteps,
        steps_per_epoch: stepsPerEpoch,
      }),
    );
  }

  private about(step: number): { time: number; generation: number; step: number; path: string } {
    const path = `checkpoints/step-${String(step).padStart(8, '0')}`;
    return { time: this.time, generation: this.generation, step, path };
  }

  private write(line: Metric): void {
    this.text(`${JSON.stringify(line)}\n`);
  }

  private text(text: string): void {
    this.pieces.push((this.pieces.pop() ?? '') + text);
  }
}
