// What the core says about itself; the roots decide where it goes.

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Logger {
  log(level: LogLevel, text: string): void;
}

export const nullLogger: Logger = { log: () => undefined };

/** Keeps what was logged, for tests. */
export class MemoryLogger implements Logger {
  readonly lines: { level: LogLevel; text: string }[] = [];

  log(level: LogLevel, text: string): void {
    this.lines.push({ level, text });
  }
}
