// JSON-RPC over one duplex byte stream to `agent serve`. Knows nothing of how the stream came to
// be.
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import * as z from 'zod/mini';
import { Cancelled, errorText, throwIfCancelled, UserError } from '../base/errors.js';
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import { check, problemsText } from '../base/validation.js';
import {
  agentResults,
  notificationSchema,
  type AgentMethod,
  type AgentNotification,
  type AgentParams,
  type AgentResult,
  type RunEntry,
} from '../contracts/agentApi.js';
import { LineFramer, NonceGate } from '../streams/framing.js';

/** Bytes that one message has at most, in either direction. */
export const maxMessageBytes = 8 * 1024 * 1024;
/** What a login shell may print before the agent's first line. */
const maxNoiseBytes = 1024 * 1024;
/** Seconds; a client that was suspended for longer connects again. */
const usualKeepAlive = 120;

/** The two ends of an agent's stdin and stdout, and what its stderr said last. */
export interface AgentStream extends Disposable {
  readonly input: Readable;
  readonly output: Writable;
  /** A word or two on where the agent is, for messages: a host's name. */
  readonly where: string;
  /** Its last lines on stderr, oldest first. */
  stderrTail(): string[];
  /** Resolves when the process and all its pipes are gone. */
  readonly closed: Promise<void>;
  /** How it ended, once it has: `exit 1`, `signal 9`. */
  ending(): string | undefined;
}

/**
 * An error that the agent answered with. `code` is one of `agentErrors`, or negative where it is
 * one of JSON-RPC's own.
 */
export class AgentError extends Error {
  override readonly name = 'AgentError';

  constructor(
    readonly code: number,
    message: string,
    readonly method: string,
  ) {
    super(message);
  }
}

interface Pending {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

const messageSchema = z.object({
  id: z.optional(z.nullable(z.int())),
  method: z.optional(z.string()),
  result: z.optional(z.unknown()),
  error: z.optional(z.object({ code: z.int(), message: z.string() })),
});

/** Limits of a connection to an agent. */
export interface AgentClientOptions {
  /** Milliseconds for the nonce line, and for each answer. */
  connectTimeout?: number;
  requestTimeout?: number;
  /**
   * Seconds of this side's silence after which the agent ends; it hears something four times as
   * often.
   */
  keepAlive?: number;
  signal?: AbortSignal;
  logger?: Logger;
  /** What else is known of runs, put into what the agent answers about them. */
  entries?: AmendEntries | undefined;
}

/** Adds to what an agent says of runs; gives as many back, in the same order. */
export type AmendEntries = <E extends RunEntry>(entries: readonly E[]) => Promise<E[]>;

/** One connection to `agent serve`. Owns the stream; whoever connected disposes the client. */
export class AgentClient implements Disposable {
  private readonly framer = new LineFramer(maxMessageBytes);
  private gate: NonceGate | undefined;
  private ready: Pending | undefined;
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private nextFollowId = 1;
  private failure: Error | undefined;
  private heart: NodeJS.Timeout | undefined;
  private readonly notifications = new Emitter<AgentNotification>();
  private readonly closes = new Emitter<Error>();
  private readonly requestTimeout: number;
  private readonly logger: Logger;
  private readonly entries: AmendEntries | undefined;

  readonly onNotification: Event<AgentNotification> = this.notifications.event;
  /** Fires once, when the connection is gone; not for `dispose`. */
  readonly onClose: Event<Error> = this.closes.event;

  private constructor(
    private readonly stream: AgentStream,
    options: AgentClientOptions,
  ) {
    this.requestTimeout = options.requestTimeout ?? 60_000;
    this.logger = options.logger ?? nullLogger;
    this.entries = options.entries;
    stream.input.on('data', (chunk: Buffer) => {
      this.receive(chunk);
    });
    stream.input.on('close', () => {
      void this.closeAfterLastWords();
    });
    stream.input.on('error', (error: Error) => {
      this.close(this.connectionError(errorText(error)));
    });
    stream.output.on('error', (error: Error) => {
      this.logger.log('debug', `agent on ${stream.where}: write failed: ${errorText(error)}`);
    });
  }

  /**
   * Shakes hands; owns the stream from here on, also when it fails. UserError (connection),
   * Cancelled.
   */
  static async connect(stream: AgentStream, options: AgentClientOptions = {}): Promise<AgentClient> {
    const client = new AgentClient(stream, options);
    const nonce = randomBytes(16).toString('hex');
    client.gate = new NonceGate(nonce, maxNoiseBytes);
    try {
      throwIfCancelled(options.signal);
      const opened = new Promise<unknown>((resolve, reject) => {
        client.ready = { resolve, reject };
      });
      const keepAlive = options.keepAlive ?? usualKeepAlive;
      stream.output.write(`${JSON.stringify({ nonce, keepAlive })}\n`);
      client.stayAlive(keepAlive);
      await client.within(opened, 'its first line', options.connectTimeout ?? 15_000, options.signal);
      return client;
    } catch (error) {
      client.dispose();
      throw error;
    }
  }

  get isClosed(): boolean {
    return this.failure !== undefined;
  }

  /** An id for `file.follow` that is not yet in use on this connection. */
  newFollowId(): number {
    return this.nextFollowId++;
  }

  /**
   * Asks and waits. AgentError for the agent's own refusals; UserError (connection) for everything
   * in between.
   */
  async request<M extends AgentMethod>(
    method: M,
    ...[params, options]: undefined extends AgentParams[M]
      ? [params?: AgentParams[M], options?: { timeout?: number; signal?: AbortSignal }]
      : [params: AgentParams[M], options?: { timeout?: number; signal?: AbortSignal }]
  ): Promise<AgentResult<M>> {
    if (this.failure) throw this.failure;
    throwIfCancelled(options?.signal);
    const id = this.nextId++;
    const frame = `${JSON.stringify({ jsonrpc: '2.0', id, method, params: params ?? {} })}\n`;
    if (Buffer.byteLength(frame) > maxMessageBytes) {
      throw new RangeError(`${method}: a request of more than ${maxMessageBytes} bytes`);
    }
    const answer = new Promise<unknown>((resolve, reject) => {
      const fail = (error: Error): void => {
        reject(error instanceof AgentError ? new AgentError(error.code, error.message, method) : error);
      };
      this.pending.set(id, { resolve, reject: fail });
    });
    this.stream.output.write(frame);
    try {
      const timeout = options?.timeout ?? this.requestTimeout;
      const result = check(agentResults[method], await this.within(answer, method, timeout, options?.signal));
      if (result.ok) return (await this.amended(method, result.data)) as AgentResult<M>;
      throw this.protocolError(`${method} answered ${problemsText(result.problems)}`);
    } finally {
      this.pending.delete(id);
    }
  }

  /** The answer about runs, with what is known of them besides. */
  private async amended(method: AgentMethod, answer: unknown): Promise<unknown> {
    if (this.entries === undefined) return answer;
    if (method === 'run.get') {
      const [entry] = await this.entries([answer as AgentResult<'run.get'>]);
      return entry;
    }
    if (method !== 'run.list') return answer;
    const list = answer as AgentResult<'run.list'>;
    return { ...list, runs: await this.entries(list.runs) };
  }

  /** Ends the connection, and with it `agent serve`; runs go on. */
  dispose(): void {
    this.fail(new Cancelled('the connection to the agent was closed'));
    this.notifications.dispose();
    this.closes.dispose();
    this.stream.dispose();
  }

  /**
   * An empty line now and then: without it an agent behind a connection that broke unseen would
   * wait for ever.
   */
  private stayAlive(seconds: number): void {
    this.heart = setInterval(() => {
      this.stream.output.write('\n');
    }, seconds * 250);
    this.heart.unref();
  }

  private receive(chunk: Buffer): void {
    if (this.failure) return;
    try {
      let rest: Buffer | undefined = chunk;
      if (this.gate) {
        rest = this.gate.push(chunk);
        if (rest === undefined) return;
        this.gate = undefined;
        this.ready?.resolve(undefined);
      }
      for (const line of this.framer.push(rest)) this.handle(line);
    } catch (error) {
      this.close(this.protocolError(errorText(error)));
      this.stream.dispose();
    }
  }

  private handle(line: Buffer): void {
    const parsed: unknown = JSON.parse(line.toString('utf8'));
    const message = check(messageSchema, parsed);
    if (!message.ok) throw new Error(problemsText(message.problems));
    const { id, method, error, result } = message.data;
    if (method !== undefined) {
      const notification = check(notificationSchema, parsed);
      if (notification.ok) this.notifications.fire(notification.data);
      else {
        this.logger.log('warn', `agent on ${this.stream.where}: notification ${method} was not understood`);
      }
      return;
    }
    if (typeof id !== 'number') {
      throw new Error(
        error ? `the agent could not read a request: ${error.message}` : 'an answer without an id',
      );
    }
    const waiting = this.pending.get(id); // absent: it timed out or was given up
    if (error) waiting?.reject(new AgentError(error.code, error.message, ''));
    else waiting?.resolve(result);
  }

  private async within<T>(
    work: Promise<T>,
    what: string,
    timeout: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    let release = (): void => undefined;
    const gaveUp = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => {
        reject(this.connectionError(`gave no answer to ${what} within ${timeout / 1000} s`));
      }, timeout);
      const abort = (): void => {
        reject(new Cancelled());
      };
      signal?.addEventListener('abort', abort, { once: true });
      release = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
    });
    try {
      return await Promise.race([work, gaveUp]);
    } finally {
      release();
    }
  }

  /**
   * The last lines of stderr and the exit status may come after the end of stdout; half a second is
   * given them.
   */
  private async closeAfterLastWords(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 500);
    });
    await Promise.race([this.stream.closed, enough]);
    clearTimeout(timer);
    this.close(this.connectionError('ended'));
  }

  private close(error: Error): void {
    if (this.fail(error)) this.closes.fire(error);
  }

  private fail(error: Error): boolean {
    if (this.failure) return false;
    this.failure = error;
    clearInterval(this.heart);
    this.ready?.reject(error);
    for (const waiting of this.pending.values()) waiting.reject(error);
    this.pending.clear();
    return true;
  }

  private connectionError(what: string): UserError {
    const { where } = this.stream;
    const ending = this.stream.ending();
    const said = this.stream.stderrTail().slice(-5).join(' | ');
    const noise = said === '' ? (this.gate?.noise ?? '') : said;
    const detail = [ending === undefined ? '' : `(${ending})`, noise === '' ? '' : `It said: ${noise}`];
    const text = [`the agent on ${where} ${what}`, ...detail].filter((part) => part !== '').join(' ');
    return new UserError('connection', text, 'Try again; a running training is not affected');
  }

  private protocolError(detail: string): UserError {
    const what = `the agent on ${this.stream.where} sent something that is not of its protocol: ${detail}`;
    return new UserError('connection', what, 'Check that agent and Trainyard are of the same version');
  }
}
