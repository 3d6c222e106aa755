// At once, and then at most once an interval, the last time included.
import type { Disposable } from '../core/base/lifecycle.js';

export class Throttle implements Disposable {
  private timer: NodeJS.Timeout | undefined;
  private again = false;

  /** `interval` in milliseconds, asked after each time. */
  constructor(
    private readonly act: () => void,
    private readonly interval: () => number,
  ) {}

  poke(): void {
    if (this.timer) {
      this.again = true;
      return;
    }
    this.act();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      const { again } = this;
      this.again = false;
      if (again) this.poke();
    }, this.interval());
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.again = false;
  }
}
