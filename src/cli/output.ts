// What the command line writes. A reader that went away (`| head`) ends the program quietly; the
// run goes on.
import type { Logger, LogLevel } from '../core/base/log.js';
import { visible } from '../core/base/visible.js';
import type { OutputRecord } from './json/records.js';

export interface Output {
  /** Characters of a line of stdout; undefined, or left out, where it is no terminal. */
  readonly width?: number | undefined;
  /** One line on stdout. */
  line(text: string): void;
  /** One JSON object on stdout. */
  json(value: OutputRecord): void;
  /** Bytes on stdout, as they are. */
  bytes(data: Buffer): void;
  /** One line on stderr, for a person; nothing that a script reads. */
  note(text: string): void;
}

/** Exit code of a program that SIGPIPE ended, as shells report it. */
const pipeExit = 141;

export function processOutput(): Output {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(pipeExit);
      throw error;
    });
  }
  const line = (text: string): void => {
    process.stdout.write(`${text}\n`);
  };
  return {
    width: process.stdout.isTTY ? process.stdout.columns : undefined,
    line,
    json: (value) => {
      line(JSON.stringify(value));
    },
    bytes: (data) => {
      process.stdout.write(data);
    },
    note: (text) => {
      process.stderr.write(`${text}\n`);
    },
  };
}

/** Progress on stderr: one line that is overwritten on a terminal, a line each elsewhere. */
export class ProgressLine {
  private shown = false;

  constructor(private readonly stream: NodeJS.WriteStream = process.stderr) {}

  show(said: string): void {
    const text = visible(said);
    if (this.stream.isTTY) {
      const room = Math.max(20, this.stream.columns - 1);
      this.stream.write(`\r\u001b[K${text.length > room ? `${text.slice(0, room - 1)}…` : text}`);
      this.shown = true;
    } else {
      this.stream.write(`${text}\n`);
    }
  }

  clear(): void {
    if (this.shown) this.stream.write('\r\u001b[K');
    this.shown = false;
  }
}

/** The core's log goes to stderr when TRAINYARD_LOG names the least level to show. */
export function stderrLogger(env: NodeJS.ProcessEnv = process.env): Logger {
  const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
  const least = levels.findIndex((level) => level === env['TRAINYARD_LOG']);
  return {
    log: (level, text) => {
      if (least >= 0 && levels.indexOf(level) >= least) {
        process.stderr.write(`trainyard: ${level}: ${text}\n`);
      }
    },
  };
}
