import type { Logger, LogLevel } from '../../../src/core/base/log.js';

/** Keeps what was logged. */
export class MemoryLogger implements Logger {
  readonly lines: { level: LogLevel; text: string }[] = [];

  log(level: LogLevel, text: string): void {
    this.lines.push({ level, text });
  }
}
