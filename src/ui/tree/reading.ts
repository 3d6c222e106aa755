// Whether somebody reads a tooltip of one of our views. We hear of a pointer only when its tooltip
// is asked for, half a second after it came. Who has read one tooltip often goes on to the next
// row. So the figures of all views wait then.

/** Milliseconds from the moment that a tooltip was asked for. */
export const readingTime = 12_000;

export class Reading {
  private until = 0;

  /** The editor has asked for a tooltip. */
  begins(): void {
    this.until = Date.now() + readingTime;
  }

  /** By `Date.now()`; in the past while nobody reads. */
  get end(): number {
    return this.until;
  }
}
