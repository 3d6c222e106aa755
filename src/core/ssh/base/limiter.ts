// How many connections are being made at once: a server drops those over its MaxStartups, and
// logins cost it work.
import { Cancelled, throwIfCancelled } from '../../base/errors.js';

/**
 * A place among those that are busy at once. Its holder releases it; a second `release` does
 * nothing.
 */
export interface Slot {
  /** Gives the place to another while `wait` lasts, and takes one again. */
  without<T>(wait: () => Promise<T>): Promise<T>;
  release(): void;
}

/** First come, first served. */
export class Limiter {
  private free: number;
  private readonly queue: (() => void)[] = [];

  constructor(places: number) {
    this.free = places;
  }

  /** Waits for a place. Cancelled. */
  async acquire(signal?: AbortSignal): Promise<Slot> {
    await this.take(signal);
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      this.give();
    };
    return {
      release,
      without: async (wait) => {
        release();
        const result = await wait();
        await this.take(signal);
        held = true;
        return result;
      },
    };
  }

  private async take(signal?: AbortSignal): Promise<void> {
    throwIfCancelled(signal);
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.queue.splice(this.queue.indexOf(enter), 1);
        reject(new Cancelled());
      };
      this.queue.push(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  private give(): void {
    const next = this.queue.shift();
    if (next) next();
    else this.free++;
  }
}
