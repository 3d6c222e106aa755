// One of the connections on a channel: a stream that sends only what the other side has room for.
import { Duplex } from 'node:stream';
import { creditBytes, framePiece, frameWindow, type FrameKind } from './forwardFrames.js';

/** The channel behind a `CarriedStream`, as far as one connection uses it. */
export interface Carrier {
  /** `done` when the frame is on its way. */
  send(kind: FrameKind, data?: Buffer, done?: (error?: Error | null) => void): void;
  /** The stream is over, and is sent nothing more. */
  forget(): void;
}

/**
 * One connection of many on a channel. The stream sends no more bytes than the other side gave it
 * credit for. Its owner destroys it.
 */
export class CarriedStream extends Duplex {
  private credit = frameWindow;
  private writing: { chunk: Buffer; done: (error?: Error | null) => void } | undefined;
  /** Bytes that are taken from the channel, and not yet by the reader. */
  private untaken = 0;
  private otherEnded = false;
  private otherClosed = false;

  constructor(private readonly carrier: Carrier) {
    super({ allowHalfOpen: true });
    this.on('error', () => undefined); // a reader's own pipeline tells it
  }

  /** Bytes from the other side. */
  arrive(data: Buffer): void {
    if (this.destroyed) return;
    this.untaken += data.length;
    if (this.push(data)) this.giveCredit();
  }

  /** The other side takes more. */
  allow(count: number): void {
    this.credit += count;
    this.sendOn();
  }

  /** The other side has sent all. */
  sentAll(): void {
    this.otherEnded = true;
    if (!this.destroyed) this.push(null);
  }

  /** The other side is gone. */
  letGo(error: Error | undefined): void {
    this.otherClosed = true;
    this.destroy(error);
  }

  override _read(): void {
    this.giveCredit();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.writing = { chunk, done };
    this.sendOn();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.carrier.send('end', undefined, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isOver = this.otherEnded && this.writableFinished;
    if (!isOver && !this.otherClosed) this.carrier.send('closed');
    this.carrier.forget();
    done(error);
  }

  private sendOn(): void {
    while (this.writing && this.credit > 0 && !this.destroyed) {
      const { chunk, done } = this.writing;
      const part = chunk.subarray(0, Math.min(framePiece, this.credit));
      this.credit -= part.length;
      const rest = chunk.subarray(part.length);
      this.writing = rest.length > 0 ? { chunk: rest, done } : undefined;
      this.carrier.send('data', part, this.writing ? undefined : done);
    }
  }

  private giveCredit(): void {
    if (this.untaken === 0 || this.otherEnded || this.destroyed) return;
    this.carrier.send('credit', creditBytes(this.untaken));
    this.untaken = 0;
  }
}
