// The charts together: one time axis, one crosshair, and turns at drawing that leave each frame
// time for the rest.
import type { ChartData } from './chartData.js';
import type { PageModel } from '../model/model.js';
import type { Palette } from '../elements/colors.js';

/** Each chart is drawn at most ten times a second. */
const interval = 100;

export interface Drawable {
  readonly visible: boolean;
  /** Whether the crosshair is on it. */
  readonly pointed: boolean;
  /** Draws what the data are now. */
  draw(): void;
  /** The same data, another range or other colours. */
  redraw(): void;
  moveCursor(x: number | undefined): void;
}

interface Turn {
  dirty: boolean;
  drawnAt: number;
  step: number;
}

export class ChartGroup {
  zoom: [number, number] | undefined;
  logLoss = false;
  smoothing = 0;
  /** Outliers too. */
  allValues = false;
  readonly syncKey = 'trainyard';
  private readonly turns = new Map<Drawable, Turn>();
  private cursorRow: number | undefined;

  constructor(
    public data: ChartData,
    public model: PageModel,
    public palette: Palette,
    private readonly onZoom: (zoom: [number, number] | undefined) => void,
    private readonly wake: () => void,
  ) {}

  add(chart: Drawable): void {
    this.turns.set(chart, { dirty: true, drawnAt: -Infinity, step: -1 });
    this.wake();
  }

  remove(chart: Drawable): void {
    this.turns.delete(chart);
  }

  /** New data: every chart is drawn again when its turn comes. */
  invalidate(): void {
    for (const turn of this.turns.values()) turn.dirty = true;
    this.wake();
  }

  /** A chart that has come into sight. */
  appeared(): void {
    this.wake();
  }

  redraw(): void {
    for (const chart of this.turns.keys()) chart.redraw();
  }

  /** What the x axes show, in their unit. */
  get range(): [number, number] {
    if (this.zoom) return this.zoom;
    const { x } = this.data;
    const low = Math.min(0, x[0] ?? 0);
    const evaluated = this.model.evaluations.at(-1);
    const high = Math.max(x.at(-1) ?? 1, evaluated ? this.data.xOf(evaluated) : -Infinity);
    return [low, high > low ? high : low + 1];
  }

  /** The same in seconds of run time, for what is always drawn over time. */
  get timeRange(): [number, number] {
    const { data, zoom } = this;
    const [low, high] = this.range;
    if (data.axis === 'time') return [low, high];
    const [first, last] = zoom
      ? [data.secondsOf(low), data.secondsOf(high)]
      : [0, data.seconds(data.length - 1)];
    return [first, last > first ? last : first + 1];
  }

  setZoom(zoom: [number, number] | undefined): void {
    this.zoom = zoom;
    this.onZoom(zoom);
    this.redraw();
  }

  /** Around the middle, or around the crosshair: below 1 zooms in. */
  zoomBy(factor: number): void {
    const [low, high] = this.range;
    const middle = this.cursorRow === undefined ? (low + high) / 2 : (this.data.x[this.cursorRow] ?? 0);
    const next: [number, number] = [middle - (middle - low) * factor, middle + (high - middle) * factor];
    this.zoom = undefined;
    const whole = this.range;
    const clamped: [number, number] = [Math.max(whole[0], next[0]), Math.min(whole[1], next[1])];
    this.setZoom(clamped[0] <= whole[0] && clamped[1] >= whole[1] ? undefined : clamped);
  }

  /** The crosshair by keyboard; `undefined` takes it away. */
  moveCursor(rows: number | undefined): void {
    const last = this.data.length - 1;
    this.cursorRow =
      rows === undefined
        ? undefined
        : Math.max(0, Math.min(last, (this.cursorRow ?? last + (rows < 0 ? 1 : -1)) + rows));
    const x = this.cursorRow === undefined ? undefined : this.data.x[this.cursorRow];
    for (const chart of this.turns.keys()) chart.moveCursor(x);
  }

  /**
   * Draws the one that is due longest, and returns the milliseconds until the next is, if any
   * waits. One a frame: what the browser makes of a canvas after the script costs more than the
   * script does. Under the crosshair all are drawn in one frame, for it would point at other times
   * in charts that lag behind.
   */
  draw(now: number): number | undefined {
    if ([...this.turns.keys()].some(({ pointed }) => pointed)) return this.drawAll(now);
    let wait: number | undefined;
    let drawn = false;
    const oldestFirst = [...this.turns].sort(([, a], [, b]) => a.drawnAt - b.drawnAt);
    for (const [chart, turn] of oldestFirst) {
      if (!turn.dirty || !chart.visible) continue;
      const due = turn.drawnAt + interval - now;
      if (due > 0 || drawn) {
        wait = Math.min(wait ?? Infinity, Math.max(due, 0));
        continue;
      }
      this.drawOne(chart, turn, now);
      drawn = true;
    }
    return wait;
  }

  private drawAll(now: number): number | undefined {
    const dirty = [...this.turns].filter(([chart, turn]) => turn.dirty && chart.visible);
    if (dirty.length === 0) return undefined;
    const due = Math.max(...dirty.map(([, { drawnAt }]) => drawnAt)) + interval - now;
    if (due > 0) return due;
    for (const [chart, turn] of dirty) this.drawOne(chart, turn, now);
    return undefined;
  }

  private drawOne(chart: Drawable, turn: Turn, now: number): void {
    chart.draw();
    Object.assign(turn, { dirty: false, drawnAt: now, step: this.data.steps.step.at(-1) ?? -1 });
  }

  /** The step that every chart in sight has reached. */
  get drawnStep(): number | undefined {
    const steps = [...this.turns].filter(([chart]) => chart.visible).map(([, { step }]) => step);
    return steps.length === 0 ? undefined : Math.min(...steps);
  }
}
