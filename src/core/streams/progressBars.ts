// Progress bars: lines that a program writes again and again, each time after a carriage return.

/** Of a line, what a terminal shows at its end: what follows the last carriage return. */
export function lastSegment(line: string): string {
  const text = withoutEnd(line);
  return text.slice(text.lastIndexOf('\r') + 1);
}

/** `\r\n` ends a line as `\n` does. */
const withoutEnd = (line: string): string => line.replace(/\r+$/, '');

/**
 * Gives the lines of one log, and of a progress bar its newest state: at once, then each `every`
 * milliseconds, and at last as its line ends.
 */
export class ProgressBars {
  private shown: string | undefined;
  private due = 0;

  constructor(
    private readonly give: (text: string, time: number | null) => void,
    private readonly every: number,
  ) {}

  /**
   * A whole line, or what stands after the last one at the end. `time` is given on with it: when it
   * was written, where that is known.
   */
  line(text: string, time: number | null = null): void {
    const last = lastSegment(text);
    // A bar whose end was shown before its line ended is not shown twice.
    const isWiped = last.trim() === '' && withoutEnd(text).includes('\r');
    if (this.shown !== last && !isWiped) this.give(last, time);
    this.shown = undefined;
  }

  /** A line that has not ended yet. */
  unfinished(text: string, now = Date.now()): void {
    if (now < this.due || text === this.shown) return;
    this.due = now + this.every;
    this.shown = text;
    this.give(text, null);
  }
}
