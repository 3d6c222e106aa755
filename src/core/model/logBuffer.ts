// The newest lines of a run's logs, from all its sources, in the order in which they came.

/** How much a line of a log matters. */
export type LineLevel = 'info' | 'warning' | 'error';

/** One line of a run's logs. `source` names the log that the line is from. */
export interface LogLine {
  /** Counts the lines of a buffer from 0; no serial comes twice. */
  serial: number;
  /** Seconds since the epoch, where known. */
  time: number | null;
  source: string;
  level: LineLevel;
  text: string;
}

/** Characters. Longer lines are cut: a progress bar without newlines must not fill the memory. */
const longestLine = 4000;

/** Keeps about the last `capacity` lines of all logs of a run. */
export class LogBuffer {
  private lines: LogLine[] = [];
  private next = 0;

  constructor(readonly capacity = 2000) {}

  add(source: string, text: string, level: LineLevel = levelOf(text), time: number | null = null): void {
    const cut = text.length > longestLine ? `${text.slice(0, longestLine)}…` : text;
    this.lines.push({ serial: this.next++, time, source, level, text: cut });
    if (this.lines.length >= this.capacity * 1.25) this.lines = this.lines.slice(-this.capacity);
  }

  /** Lets all lines go; serials count on. */
  clear(): void {
    this.lines = [];
  }

  /** Serial of the line that comes next. */
  get end(): number {
    return this.next;
  }

  /** Lines with this serial or a later one, as far as they are still here. */
  since(serial: number): LogLine[] {
    const first = this.lines[0]?.serial ?? this.next;
    return this.lines.slice(Math.max(0, serial - first));
  }
}

/** From its words: what other programs print has no level. */
function levelOf(text: string): LineLevel {
  if (/\b(error|exception|traceback|fatal|aborted|segmentation fault)\b/i.test(text)) return 'error';
  return /\b(warn|warning)\b/i.test(text) ? 'warning' : 'info';
}
