// Tells a dead connection from a silent one. Counted in ticks, not in time: after a laptop slept,
// it gets its chance.
import type { Duplex } from 'node:stream';

/** Ticks. */
const misses = 3;
/** Bytes. Keepalive requests themselves are less than this. */
const realProgress = 4096;

interface Counted extends Duplex {
  bytesWritten?: number;
}

/**
 * Calls `onDead` when for `misses` ticks of `interval` milliseconds nothing came and nothing of
 * weight went out; then stops. Its owner stops it otherwise.
 */
export class Watchdog {
  private readonly timer: NodeJS.Timeout;
  private received = 0;
  private seen = 0;
  private sent = 0;
  private silent = 0;
  private readonly count = (chunk: Buffer): void => {
    this.received += chunk.length;
  };

  constructor(
    private readonly sock: Counted,
    interval: number,
    onDead: () => void,
  ) {
    sock.on('data', this.count);
    this.timer = setInterval(() => {
      if (this.isAlive()) this.silent = 0;
      else if (++this.silent >= misses) {
        this.stop();
        onDead();
      }
    }, interval);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.sock.off('data', this.count);
  }

  private isAlive(): boolean {
    const { received } = this;
    const sent = (this.sock.bytesWritten ?? 0) - this.sock.writableLength;
    const alive = received > this.seen || sent - this.sent > realProgress;
    this.seen = received;
    this.sent = sent;
    return alive;
  }
}
