// How long work is followed and ended by the person who asked for it.

/** Options of work that may take long. */
export interface Progress {
  /** Called with what is done now, in a few words without a full stop. */
  onProgress?: (text: string) => void;
  /** Ends the work; the promise of the work is then rejected with Cancelled. */
  signal?: AbortSignal;
}
