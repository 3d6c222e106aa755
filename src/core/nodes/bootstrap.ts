// One channel to a node before anything of ours is there: a Python program that is sent over it and never written to disk.
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import * as z from 'zod/mini';
import { throwIfCancelled, UserError } from '../errors.js';
import type { Disposable } from '../lifecycle.js';
import type { SshChannel, SshConnection } from '../ssh/transport.js';
import { demand } from '../validation.js';
import { LineFramer } from './framing.js';
import { LineTail } from './localConnection.js';

const ready = 'trainyard-ready\n';

/**
 * The one command line that ever goes to a node's login shell. It reads the same in bash, dash, fish and tcsh, holds no value of
 * anybody's, says that it runs, and becomes the program that follows on its input up to a zero byte.
 */
export const bootstrapCommand =
  `exec python3 -ISc 'import os;os.write(1,b"trainyard-ready\\n");` +
  `exec(b"".join(iter(lambda:os.read(0,1)or os._exit(9),b"\\0")))'`;

/**
 * The same for a shell that reads lines, as one does that a start file has become (`exec fish`). Where our program reads it after
 * all, it is a string of Python that nobody uses.
 */
export const typedCommand = `"""env" ${bootstrapCommand.slice('exec '.length)} # """`;

/** The line before is read byte by byte, so that nothing after it is lost; the rest in one piece. */
const readAll = (length: number): string =>
  [
    `text = b""`,
    `while len(text) < ${length}:`,
    `    part = os.read(0, ${length} - len(text))`,
    `    part or os._exit(9)`,
    `    text += part`,
    `exec(compile(text, "set-up", "exec"))`,
  ].join('\n');

const answerSchema = z.object({
  result: z.optional(z.unknown()),
  progress: z.optional(z.string()),
  error: z.optional(
    z.object({ what: z.string(), hint: z.string(), remedy: z.optional(z.nullable(z.string())) }),
  ),
});

/** What the set-up program said no to. `remedy` is `wheels` when the client may bring the packages itself. */
export class NodeRefusal extends UserError {
  /** `said`: without the node's name. */
  constructor(
    where: string,
    readonly said: string,
    hint: string,
    readonly remedy: string | undefined,
  ) {
    super('preflight', `${where}: ${said}`, hint);
  }
}

/** Start files of a login shell may print and sleep; what reads input is fed empty lines meanwhile. */
const readyTimeout = 30_000;
const feedAfter = 2_000;
const typeEvery = 4_000;
const longestLine = 1024 * 1024;

export interface RequestOptions {
  /** Bytes that follow the request's line. */
  body?: readonly Buffer[];
  onProgress?: (text: string) => void;
  signal?: AbortSignal;
}

export class Bootstrap implements Disposable {
  private readonly framer = new LineFramer(longestLine);
  private readonly stderr = new LineTail();
  private lines: string[] = [];
  private wake: (() => void) | undefined;
  private noise = '';
  private isReady = false;
  private ended = false;

  private readonly take = (chunk: Buffer): void => {
    if (this.isReady) {
      this.lines.push(...this.framer.push(chunk).map((line) => line.toString('utf8')));
    } else this.awaitReady(chunk);
    this.wake?.();
  };

  private constructor(
    private readonly channel: SshChannel,
    private readonly where: string,
  ) {
    channel.stdout.on('data', this.take);
    channel.stderr.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk.toString('utf8'));
    });
    channel.stdin.on('error', () => undefined); // the channel's end tells it
    void channel.closed.then(() => {
      this.ended = true;
      this.wake?.();
    });
  }

  /** UserError (connection, preflight) when the node cannot run the program, Cancelled. */
  static async open(connection: SshConnection, program: string, signal?: AbortSignal): Promise<Bootstrap> {
    throwIfCancelled(signal);
    const bootstrap = new Bootstrap(await connection.exec(bootstrapCommand), connection.where);
    try {
      await bootstrap.untilReady(signal);
      const bytes = Buffer.from(program);
      bootstrap.channel.stdin.write(`${readAll(bytes.length)}\0`);
      bootstrap.channel.stdin.write(bytes);
      return bootstrap;
    } catch (error) {
      bootstrap.dispose();
      throw error;
    }
  }

  /** Asks and waits. UserError (preflight) with the node's own words, (connection) when it is lost; Cancelled. */
  async request<S extends z.ZodMiniType>(
    op: string,
    params: object,
    schema: S,
    options: RequestOptions = {},
  ): Promise<z.output<S>> {
    const { stdin } = this.channel;
    stdin.write(`${JSON.stringify({ op, params })}\n`);
    for (const part of options.body ?? []) {
      throwIfCancelled(options.signal);
      if (!stdin.write(part) && !this.ended) await Promise.race([once(stdin, 'drain'), this.channel.closed]);
    }
    return this.answer(op, schema, options);
  }

  /** Sends a request after which bytes follow; `answer` waits for what comes back. */
  input(op: string, params: object): Writable {
    this.channel.stdin.write(`${JSON.stringify({ op, params })}\n`);
    return this.channel.stdin;
  }

  /** The answer to the request that was sent last. Errors as for `request`. */
  async answer<S extends z.ZodMiniType>(
    op: string,
    schema: S,
    options: Pick<RequestOptions, 'onProgress' | 'signal'> = {},
  ): Promise<z.output<S>> {
    for (;;) {
      const line = await this.nextLine(options.signal);
      const { progress, error, result } = demand(answerSchema, JSON.parse(line), `answer to ${op}`);
      if (progress !== undefined) options.onProgress?.(progress);
      else if (error) {
        throw new NodeRefusal(this.where, error.what, error.hint, error.remedy ?? undefined);
      } else return demand(schema, result, `answer to ${op}`);
    }
  }

  /** Turns into another program, which owns the channel from here on. */
  become(op: 'serve' | 'run', params: object): SshChannel {
    this.channel.stdout.off('data', this.take);
    this.channel.stdin.write(`${JSON.stringify({ op, params })}\n`);
    return this.channel;
  }

  dispose(): void {
    this.channel.stdin.end();
    this.channel.dispose();
  }

  private awaitReady(chunk: Buffer): void {
    const seen = this.noise + chunk.toString('latin1');
    const at = seen.indexOf(ready);
    if (at < 0) {
      this.noise = seen.slice(-4096);
      return;
    }
    this.isReady = true;
    const rest = Buffer.from(seen.slice(at + ready.length), 'latin1');
    this.lines.push(...this.framer.push(rest).map((line) => line.toString('utf8')));
  }

  private async untilReady(signal: AbortSignal | undefined): Promise<void> {
    const started = Date.now();
    let typeAfter = typeEvery;
    while (!this.isReady) {
      throwIfCancelled(signal);
      const waited = Date.now() - started;
      if (this.ended) throw await this.endError();
      if (waited > readyTimeout) {
        const said = this.lastWords();
        throw new UserError(
          'connection',
          `the login shell on ${this.where} did not get to our command within ${readyTimeout / 1000} s.${said}`,
          'Look at what its start files (.bashrc and the like) do without a terminal',
        );
      }
      if (waited > feedAfter) this.channel.stdin.write('\n'); // for a start file that reads; ours skips blank lines
      if (waited > typeAfter) {
        this.channel.stdin.write(`${typedCommand}\n`);
        typeAfter += typeEvery;
      }
      await this.somethingNew(500, signal);
    }
  }

  private async nextLine(signal: AbortSignal | undefined): Promise<string> {
    for (;;) {
      throwIfCancelled(signal);
      const line = this.lines.shift();
      if (line !== undefined) return line;
      if (this.ended) throw await this.endError();
      await this.somethingNew(60_000, signal);
    }
  }

  private async somethingNew(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let stop = (): void => undefined;
    await new Promise<void>((resolve) => {
      stop = resolve;
      this.wake = resolve;
      timer = setTimeout(resolve, milliseconds);
      signal?.addEventListener('abort', stop, { once: true });
    });
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    this.wake = undefined;
  }

  private lastWords(): string {
    const said = [...this.stderr.lines(), ...(this.isReady ? [] : this.noise.trim().split('\n'))]
      .filter((line) => line !== '')
      .slice(-4)
      .join(' | ');
    return said === '' ? '' : ` It said: ${said}`;
  }

  private async endError(): Promise<UserError> {
    const { code, signal } = await this.channel.closed;
    const said = this.lastWords();
    if (!this.isReady && (code === 127 || /python3.*not found|Unknown command.*python3/i.test(said))) {
      return new UserError(
        'preflight',
        `${this.where} has no python3 on the PATH of a login without terminal`,
        'Install Python 3.9 or newer on it, or ask its administrator to',
      );
    }
    const ending = signal ?? (code === null ? 'the connection ended' : `exit ${code}`);
    return new UserError(
      'connection',
      `the set-up program on ${this.where} ended (${ending}).${said}`,
      'Try again',
    );
  }
}
