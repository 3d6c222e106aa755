// One attempt that several wait for: who leaves takes nothing from the others.
import { orCancelled } from '../../base/errors.js';

/** An attempt under way, or what came of it. It is given up when the last who waits for it leaves. */
export class SharedAttempt<T> {
  /** What comes of it, for who does not wait. */
  readonly outcome: Promise<T>;
  private readonly abort = new AbortController();
  private waiting = 0;
  private over = false;

  /**
   * `begin` is called at once; its signal fires when the attempt is given up. `discard` releases what
   * comes of it all the same.
   */
  constructor(
    begin: (signal: AbortSignal) => Promise<T>,
    private readonly discard: (unwanted: T) => void,
  ) {
    this.outcome = begin(this.abort.signal);
    const end = (): void => {
      this.over = true;
    };
    this.outcome.then(end, end);
  }

  /** Whether nobody waited for it any more before its end: then nothing comes of it. */
  get isGivenUp(): boolean {
    return this.abort.signal.aborted;
  }

  /** What comes of it, or Cancelled for this caller alone once `signal` has fired. */
  async wait(signal: AbortSignal | undefined): Promise<T> {
    this.waiting++;
    try {
      return await orCancelled(this.outcome, signal);
    } finally {
      this.waiting--;
      if (this.waiting === 0 && !this.over) this.giveUp();
    }
  }

  private giveUp(): void {
    this.abort.abort();
    this.outcome.then(this.discard, () => undefined);
  }
}
