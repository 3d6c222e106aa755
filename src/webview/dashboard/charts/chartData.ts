// The model's step rows as charts want them: run time, derived columns, smoothed lines.
// New rows only.
import type { StepColumns } from '../../protocol.js';
import type { PageModel } from '../model/model.js';
import { between } from '../elements/sampling.js';
import type { XAxis } from '../model/viewState.js';
import { emptyAverage, smooth, type Average } from './smoothing.js';

export type LineKey = 'imagesPerSec' | 'loss' | 'top1' | 'compute' | 'comm' | 'input' | 'lr';

const smoothedKeys: LineKey[] = ['imagesPerSec', 'loss', 'top1', 'compute', 'comm', 'input'];

export class ChartData {
  /** By the axis: seconds of run time (`PageModel.runTime`), steps, or epochs; never falling. */
  readonly x: number[] = [];
  readonly compute: number[] = [];
  /**
   * Tops of the step time's layers: compute, and communication on it, and waiting for input on
   * both.
   */
  readonly stack: [number[], number[], number[]] = [[], [], []];
  steps: StepColumns;
  /** Of the time axis: its zero, and the pauses that it leaves out. */
  private axisOfTime = '';
  private readonly averages = new Map<LineKey, Average>();

  constructor(
    private model: PageModel,
    private factor: number,
    public axis: XAxis = 'time',
  ) {
    this.steps = model.steps;
    this.renew(0);
  }

  /** Another model, or the same one after a full update: everything is derived again. */
  update(model: PageModel, factor: number, axis: XAxis): void {
    const sameRows =
      axis === this.axis &&
      model === this.model &&
      model.steps === this.steps &&
      axisOfTime(model) === this.axisOfTime;
    const from = Math.min(
      model.takeNewSteps(),
      sameRows ? Infinity : 0,
      factor === this.factor ? Infinity : 0,
    );
    this.model = model;
    this.factor = factor;
    this.axis = axis;
    this.renew(from);
  }

  line(key: LineKey): (number | null)[] {
    switch (key) {
      case 'compute':
        return this.compute;
      case 'comm':
        return this.steps.commMs;
      case 'input':
        return this.steps.inputWaitMs;
      case 'imagesPerSec':
      case 'loss':
      case 'top1':
      case 'lr':
        return this.steps[key];
    }
  }

  smoothed(key: LineKey): (number | null)[] {
    return this.averages.get(key)?.values ?? this.line(key);
  }

  /** Where something that happened stands on the x axis. */
  xOf({ time, step }: { time: number; step: number | null }): number {
    const { steps } = this;
    switch (this.axis) {
      case 'time':
        return this.model.runTime(time);
      case 'step':
        return step ?? between(steps.time, steps.step, time);
      case 'epoch':
        return step === null
          ? between(steps.time, steps.epoch, time)
          : between(steps.step, steps.epoch, step);
    }
  }

  /** Of a place on the x axis, seconds of run time. */
  secondsOf(x: number): number {
    return this.axis === 'time' ? x : this.model.runTime(between(this.x, this.steps.time, x));
  }

  /** Of a row, seconds of run time. */
  seconds(row: number): number {
    return Math.max(0, this.model.runTime(this.steps.time[row] ?? this.model.origin));
  }

  get isSmoothed(): boolean {
    return this.factor > 0;
  }

  get length(): number {
    return this.x.length;
  }

  private renew(changedFrom: number): void {
    this.steps = this.model.steps;
    this.axisOfTime = axisOfTime(this.model);
    const { time, stepMs, commMs, inputWaitMs } = this.steps;
    const from = Math.min(changedFrom, this.x.length);
    this.x.length = from;
    this.compute.length = from;
    for (let row = from; row < time.length; row++) {
      const x = this.rowX(row);
      this.x.push(Math.max(x, this.x[row - 1] ?? x));
      this.compute.push(Math.max(0, (stepMs[row] ?? 0) - (commMs[row] ?? 0) - (inputWaitMs[row] ?? 0)));
    }
    for (const key of smoothedKeys) {
      const average = this.averages.get(key) ?? emptyAverage();
      this.averages.set(key, average);
      smooth(average, this.line(key), this.factor, from);
    }
    this.renewStack(from);
  }

  private rowX(row: number): number {
    const { time, step, epoch } = this.steps;
    switch (this.axis) {
      case 'time':
        return this.model.runTime(time[row] ?? 0);
      case 'step':
        return step[row] ?? 0;
      case 'epoch':
        return epoch[row] ?? 0;
    }
  }

  private renewStack(from: number): void {
    const layers = [this.smoothed('compute'), this.smoothed('comm'), this.smoothed('input')] as const;
    for (const top of this.stack) top.length = from;
    for (let row = from; row < this.x.length; row++) {
      let height = 0;
      for (const [index, layer] of layers.entries()) {
        height += layer[row] ?? 0;
        this.stack[index]?.push(height);
      }
    }
  }
}

const axisOfTime = ({ origin, head }: PageModel): string => JSON.stringify([origin, head?.pauses]);
