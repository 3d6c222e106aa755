// One channel to a node before anything of ours is there: a Python program that is sent over it and
// never written to disk.
import type { Writable } from 'node:stream';
import * as z from 'zod/mini';
import { errorText, throwIfCancelled, UserError } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { SshChannel, SshConnection } from '../ssh/base/transport.js';
import { check, problemsText } from '../base/validation.js';
import { LineFramer } from '../streams/framing.js';
import { LineTail } from '../streams/lineTail.js';

const ready = 'trainyard-ready\n';

/**
 * The command line that goes to a node's login shell. It reads the same in bash, dash,
 * fish and tcsh, holds no value of anybody's, says that it runs, and becomes the program that
 * follows on its input up to a zero byte.
 */
const bootstrapCommand =
  `exec python3 -ISc 'import os;os.write(1,b"trainyard-ready\\n");` +
  `exec(b"".join(iter(lambda:os.read(0,1)or os._exit(9),b"\\0")))'`;

/**
 * The same for a shell that reads lines, as one does that a start file has become (`exec fish`).
 * Where our program reads it after all, it is a string of Python that nobody uses.
 */
const typedCommand = `"""env" ${bootstrapCommand.slice('exec '.length)} # """`;

/**
 * The line before is read byte by byte, so that nothing after it is lost; the rest in one piece.
 */
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
  /** A sign of life: it still works, on a disk that answers. */
  beat: z.optional(z.boolean()),
  /** The bytes that belong to the request are wanted. */
  send: z.optional(z.boolean()),
  result: z.optional(z.unknown()),
  progress: z.optional(z.string()),
  error: z.optional(
    z.object({ what: z.string(), hint: z.string(), remedy: z.optional(z.nullable(z.string())) }),
  ),
});

/** The path that a request names, for messages. */
function pathOf(params: object): string | undefined {
  const named: Partial<Record<string, unknown>> = { ...params };
  return ['dir', 'to', 'path', 'workdir'].map((key) => named[key]).find((path) => typeof path === 'string');
}

/**
 * What the set-up program said no to. `otherWay` is the answer's `remedy`: `wheels` when the client
 * may bring the packages itself, `direct` when it may send the files itself.
 */
export class NodeRefusal extends UserError {
  /** `said`: without the node's name. */
  constructor(
    where: string,
    readonly said: string,
    hint: string,
    readonly otherWay: string | undefined,
  ) {
    super('preflight', `${where}: ${said}`, hint);
  }
}

/**
 * Milliseconds. Start files of a login shell may print and sleep; what reads input is fed empty
 * lines meanwhile.
 */
const readyTimeout = 30_000;
/** Milliseconds until the first empty line, and between two commands that are typed. */
const feedAfter = 2_000;
const typeEvery = 4_000;
/** Bytes. */
const longestLine = 1024 * 1024;
/**
 * Milliseconds without a word from the set-up program. It gives a sign of life every 5 s while it
 * works on a disk that answers.
 */
export const silenceLimit = 30_000;

/** How one request to the set-up program goes on. */
export interface RequestOptions {
  /** Bytes that the node may ask for once it has the request. */
  body?: readonly Buffer[];
  /** The node has asked for them. */
  onSend?: () => void;
  onProgress?: (text: string) => void;
  signal?: AbortSignal;
}

/**
 * A conversation with the set-up program of a node. Owns the channel until `become` gives it away.
 */
export class Bootstrap implements Disposable {
  private readonly framer = new LineFramer(longestLine);
  private readonly stderr = new LineTail();
  private lines: string[] = [];
  private wake: (() => void) | undefined;
  private noise = '';
  private isReady = false;
  private ended = false;
  /** What it said that is not of the protocol. */
  private failure: UserError | undefined;
  private lastSign = Date.now();
  /** What was asked last, and the path that this is about where it names one. */
  private asked: { op: string; path: string | undefined } = { op: 'nothing', path: undefined };

  private readonly take = (chunk: Buffer): void => {
    this.lastSign = Date.now();
    if (this.isReady) this.takeLines(chunk);
    else this.awaitReady(chunk);
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
  static async open(
    connection: Pick<SshConnection, 'exec' | 'where'>,
    program: string,
    signal?: AbortSignal,
  ): Promise<Bootstrap> {
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

  /**
   * Asks and waits. UserError (preflight) with the node's own words, (connection) when it is lost;
   * Cancelled.
   */
  async request<S extends z.ZodMiniType>(
    op: string,
    params: object,
    schema: S,
    options: RequestOptions = {},
  ): Promise<z.output<S>> {
    this.ask(op, params);
    return this.answer(op, schema, options);
  }

  /** Sends a request after which bytes follow; `answer` waits for what comes back. */
  input(op: string, params: object): Writable {
    this.ask(op, params);
    return this.channel.stdin;
  }

  /** The answer to the request that was sent last. Errors as for `request`. */
  async answer<S extends z.ZodMiniType>(
    op: string,
    schema: S,
    options: RequestOptions = {},
  ): Promise<z.output<S>> {
    for (;;) {
      const line = await this.nextLine(options.signal);
      const message = this.understood(answerSchema, this.parsed(line), op);
      const { progress, error, result, beat, send } = message;
      if (beat === true) continue;
      if (progress !== undefined) options.onProgress?.(progress);
      else if (send === true) {
        options.onSend?.();
        await this.send(options.body ?? [], options.signal);
      } else if (error) {
        throw new NodeRefusal(this.where, error.what, error.hint, error.remedy ?? undefined);
      } else return this.understood(schema, result, op);
    }
  }

  /** Turns into another program, which owns the channel from here on. */
  become(op: 'serve' | 'run' | 'forward', params: object): SshChannel {
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
    this.takeLines(Buffer.from(seen.slice(at + ready.length), 'latin1'));
  }

  private takeLines(chunk: Buffer): void {
    if (this.failure) return;
    try {
      this.lines.push(...this.framer.push(chunk).map((line) => line.toString('utf8')));
    } catch (error) {
      this.failure = this.protocolError(errorText(error));
    }
  }

  private parsed(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch {
      throw this.protocolError(JSON.stringify(line.slice(0, 200)));
    }
  }

  private understood<S extends z.ZodMiniType>(schema: S, value: unknown, op: string): z.output<S> {
    const checked = check(schema, value);
    if (checked.ok) return checked.data;
    throw this.protocolError(`its answer to ${op} has ${problemsText(checked.problems)}`);
  }

  private ask(op: string, params: object): void {
    this.asked = { op, path: pathOf(params) };
    this.lastSign = Date.now();
    this.channel.stdin.write(`${JSON.stringify({ op, params })}\n`);
  }

  private async send(body: readonly Buffer[], signal: AbortSignal | undefined): Promise<void> {
    const { stdin } = this.channel;
    for (const part of body) {
      throwIfCancelled(signal);
      if (stdin.write(part)) continue;
      const waiting = { isFull: true };
      const drained = (): void => {
        waiting.isFull = false;
        this.lastSign = Date.now();
        this.wake?.();
      };
      stdin.once('drain', drained);
      try {
        // Where it says no instead, its words are the next line, or no line at all.
        while (waiting.isFull && !this.ended && !this.failure && this.lines.length === 0) {
          await this.awaitSign(signal);
        }
      } finally {
        stdin.off('drain', drained);
      }
    }
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
      if (this.failure) throw this.failure;
      if (this.ended) throw await this.endError();
      await this.awaitSign(signal);
    }
  }

  /** UserError (connection) when there was none for too long; Cancelled. */
  private async awaitSign(signal: AbortSignal | undefined): Promise<void> {
    const left = this.lastSign + silenceLimit - Date.now();
    if (left <= 0) throw this.silenceError();
    await this.somethingNew(left, signal);
    throwIfCancelled(signal);
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

  private silenceError(): UserError {
    const { op, path } = this.asked;
    const about = path === undefined ? '' : ` about ${path}`;
    return new UserError(
      'connection',
      `${this.where} gave no sign of life for ${silenceLimit / 1000} s after it was asked to ${op}${about}`,
      'Look whether its disks still answer: df on the node hangs at one that does not',
    );
  }

  private protocolError(what: string): UserError {
    return new UserError(
      'connection',
      `the set-up program on ${this.where} sent something that is not of its protocol: ${what}`,
      { kind: 'report', tryFirst: true },
    );
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
