// What ends the command line from outside.
import { isatty } from 'node:tty';

export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves at Ctrl-C, SIGTERM or SIGHUP. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of endingSignals) {
      process.once(signal, () => {
        resolve();
      });
    }
  });
}

/** The terminals among stdin, stdout and stderr, as they are now. */
export function ownTerminals(): number[] {
  return [0, 1, 2].filter((fd) => isatty(fd));
}

/**
 * Where one of these terminals is gone, ends the process as SIGHUP does by itself: Node puts
 * terminals back as they were when it exits, and crashes where that fails.
 */
export function endWithTerminal(terminals: readonly number[]): void {
  if (terminals.every((fd) => isatty(fd))) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
