// The newest step lines of a run: where the time of a step goes, and when the next line is due.
import { quantile } from '../../base/quantile.js';
import type { StepLine } from '../../contracts/metricsSchema.js';

/** Step lines looked back at. */
export const recentLines = 20;
/** With fewer lines nothing is said of where the time goes: a start is slow. */
const fewest = 5;

/** The last step lines of the generation under way. */
export class RecentSteps {
  private lines: Pick<StepLine, 'time' | 'images_per_sec' | 'step_ms' | 'comm_ms' | 'input_wait_ms'>[] = [];
  private firstLine: number | undefined;

  push(line: StepLine): void {
    this.firstLine ??= line.time;
    this.lines.push(line);
    if (this.lines.length > recentLines) this.lines.shift();
  }

  /** A generation begins. */
  clear(): void {
    this.lines = [];
    this.firstLine = undefined;
  }

  /** When the first step line of the generation came, seconds since the epoch. */
  get began(): number | undefined {
    return this.firstLine;
  }

  /** The longest time between two neighbouring lines, seconds. Undefined with fewer than two. */
  get longestGap(): number | undefined {
    const gaps = this.lines.slice(1).map(({ time }, index) => time - (this.lines[index]?.time ?? time));
    return gaps.length === 0 ? undefined : Math.max(...gaps);
  }

  /** The median of all lines looked back at. Undefined without any. */
  get imagesPerSec(): number | undefined {
    const rates = this.lines.map((line) => line.images_per_sec);
    return rates.length === 0 ? undefined : quantile(rates, 0.5);
  }

  /** Shares of a step's time, 0 to 1. Undefined before enough lines came. */
  get shares(): { input: number; communication: number } | undefined {
    const sum = (of: 'step_ms' | 'comm_ms' | 'input_wait_ms'): number =>
      this.lines.reduce((total, line) => total + line[of], 0);
    const whole = sum('step_ms');
    if (this.lines.length < fewest || whole <= 0) return undefined;
    return { input: sum('input_wait_ms') / whole, communication: sum('comm_ms') / whole };
  }
}
