// What the core says about itself; the roots decide where it goes.

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Logger {
  log(level: LogLevel, text: string): void;
}

export const nullLogger: Logger = { log: () => undefined };
