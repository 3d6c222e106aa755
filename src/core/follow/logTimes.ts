// When the lines of a log were written: logs/NAME.times, which the agent writes beside the log
// (docs/contracts/files.md).
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { TailLine } from '../streams/tail.js';
import type { ExtraFile } from './run.js';

/** How long a followed line waits for its time, in milliseconds; the agent looks each 0.1 s. */
const patience = 1500;
/** Bytes of the times that are read for the end of a log. */
const timesTail = 64 * 1024;

/** Of `logs/rank-0.log`, its `logs/rank-0.times`. */
export const timesFile = (log: string): string => log.replace(/\.log$/, '.times');

/** How large a log was, and when. */
export class LogTimes {
  private readonly sizes: number[] = [];
  private readonly times: number[] = [];

  /**
   * `isWhole`: the first line given is the file's first. Without it nothing is known of bytes
   * before the first size.
   */
  constructor(private readonly isWhole = true) {}

  /** A line of the file; one that is torn, or no such line, is left out. */
  take(text: string): void {
    const [, size, milliseconds] = /^\[(\d{1,16}),\s*(\d{1,16})\]$/.exec(text.trim()) ?? [];
    if (size === undefined || Number(size) <= (this.sizes.at(-1) ?? 0)) return;
    this.sizes.push(Number(size));
    this.times.push(Number(milliseconds) / 1000);
  }

  /**
   * When the byte at `offset` was there, in seconds since the epoch; null where nobody knows, and
   * undefined where the times do not reach so far yet.
   */
  of(offset: number): number | null | undefined {
    let low = 0;
    let high = this.sizes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.sizes[middle] ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    if (low === this.sizes.length) return undefined;
    const time = low === 0 && !this.isWhole ? 0 : (this.times[low] ?? 0);
    return time === 0 ? null : time;
  }
}

/** A line, and when it was written: seconds since the epoch, null where nobody knows. */
export type OnTimedLine = (line: TailLine, time: number | null) => void;

/**
 * A log that is followed together with its times. A line waits until its time is there, but not
 * longer than `patience`. Lines keep their order. `dispose` gives what still waits.
 */
export class TimedLog implements Disposable {
  private readonly times: LogTimes;
  private readonly waiting: { line: TailLine; until: number }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly onLine: OnTimedLine,
    isWhole = true,
  ) {
    this.times = new LogTimes(isWhole);
  }

  takeLine(line: TailLine): void {
    this.waiting.push({ line, until: Date.now() + patience });
    this.give();
  }

  takeTime(text: string): void {
    this.times.take(text);
    this.give();
  }

  dispose(): void {
    this.give(true);
  }

  private give(all = false): void {
    clearTimeout(this.timer);
    for (;;) {
      const first = this.waiting[0];
      if (!first) return;
      const time = this.times.of(first.line.offset);
      const left = first.until - Date.now();
      if (time === undefined && left > 0 && !all) {
        this.timer = setTimeout(() => {
          this.give();
        }, left);
        return;
      }
      this.waiting.shift();
      this.onLine(first.line, time ?? null);
    }
  }
}

/**
 * What a `RunFollower` reads for logs with their times. A log of a run without times gives its
 * lines at once. Whoever makes it calls `dispose` once the run was followed to its end.
 */
export class TimedLogs implements Disposable {
  private readonly store = new DisposableStore();
  private readonly made = new Map<string, ExtraFile[]>();

  /**
   * The log `name` from byte `start`, and its times where `files`, the run's files and their sizes
   * in bytes, has them. `unended` gets what has no newline, as in an `ExtraFile`.
   */
  files(
    name: string,
    start: number,
    files: Readonly<Record<string, number>>,
    onLine: OnTimedLine,
    unended: Pick<ExtraFile, 'onUnfinished' | 'onProgress'> = {},
  ): ExtraFile[] {
    const known = this.made.get(name);
    if (known) return known;
    const made = this.make(name, start, files, onLine, unended);
    this.made.set(name, made);
    return made;
  }

  dispose(): void {
    this.store.dispose();
  }

  private make(
    name: string,
    start: number,
    files: Readonly<Record<string, number>>,
    onLine: OnTimedLine,
    unended: Pick<ExtraFile, 'onUnfinished' | 'onProgress'>,
  ): ExtraFile[] {
    const times = timesFile(name);
    const size = files[times];
    const onReset = (): void => undefined;
    if (size === undefined || times === name) {
      const untimed = (line: TailLine): void => {
        onLine(line, null);
      };
      return [{ name, start, onLine: untimed, onReset, ...unended }];
    }
    const from = start === 0 ? 0 : Math.max(0, size - timesTail);
    const log = this.store.add(new TimedLog(onLine, from === 0));
    const takeLine = (line: TailLine): void => {
      log.takeLine(line);
    };
    const takeTime = ({ text }: TailLine): void => {
      log.takeTime(text);
    };
    const onUnfinished = (text: string, offset: number): void => {
      log.dispose(); // what waits comes before it
      unended.onUnfinished?.(text, offset);
    };
    return [
      { name: times, start: from, onLine: takeTime, onReset },
      { name, start, onLine: takeLine, onReset, ...unended, onUnfinished },
    ];
  }
}
