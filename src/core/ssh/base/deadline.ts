// A limit on how long the other side may take, which does not count the time a person takes.

/**
 * Calls `onExpired` when `milliseconds` have gone by without a person being waited for. Its owner
 * ends it.
 */
export class Deadline {
  private timer: NodeJS.Timeout | undefined;
  private waits = 0;
  private ended = false;

  constructor(
    private readonly milliseconds: number,
    private readonly onExpired: () => void,
  ) {
    this.restart();
  }

  /** The whole time is given again after the wait. */
  async patiently<T>(wait: () => Promise<T>): Promise<T> {
    this.waits++;
    clearTimeout(this.timer);
    try {
      return await wait();
    } finally {
      this.waits--;
      this.restart();
    }
  }

  /** Stops the clock for good. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }

  private restart(): void {
    if (this.ended || this.waits > 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.onExpired, this.milliseconds);
  }
}
