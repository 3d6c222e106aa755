// What the core says about itself; the roots decide where it goes.

/** How much a line of the log matters, the least first. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Takes what the core says about its own work. */
export interface Logger {
  log(level: LogLevel, text: string): void;
}

/** A logger that drops every line. */
export const nullLogger: Logger = { log: () => undefined };
