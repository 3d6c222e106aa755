// The other end of the agent's protocol, in this process: a peer for the client's tests, with no
// behaviour of its own.
import { PassThrough } from 'node:stream';
import type { AgentStream } from '../../../src/core/agent/agentClient.js';

export interface Request {
  id: number;
  method: string;
  params: Record<string, unknown>;
}

export class FakeAgent {
  readonly requests: Request[] = [];
  nonce: string | undefined;
  disposed = false;
  /** Empty lines. */
  signsOfLife = 0;
  /** Seconds that the client named. */
  keepAlive: number | undefined;
  stderr: string[] = [];
  ended: string | undefined;
  private readonly toClient = new PassThrough();
  private readonly fromClient = new PassThrough();
  private pending = '';
  private waiting: (() => void)[] = [];
  private finish: () => void = () => undefined;
  private readonly closed = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  /** Given, it is asked for an answer to each request; undefined leaves the request unanswered. */
  constructor(
    private readonly answer?: (request: Request) => unknown,
    private readonly greet = true,
  ) {
    this.fromClient.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.pending + text).split('\n');
      this.pending = lines.pop() ?? '';
      for (const line of lines) this.take(line);
    });
  }

  stream(): AgentStream {
    return {
      input: this.toClient,
      output: this.fromClient,
      where: 'testhost',
      closed: this.closed,
      stderrTail: () => this.stderr,
      ending: () => this.ended,
      dispose: () => {
        this.disposed = true;
        this.toClient.destroy();
      },
    };
  }

  /** Bytes to the client, as they are. */
  write(bytes: string | Buffer): void {
    this.toClient.write(bytes);
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Resolves when the client has sent `count` requests. */
  async received(count: number): Promise<void> {
    while (this.requests.length < count) {
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    }
  }

  /** The agent's process ends: stdout first, the rest of it a moment later. */
  end(ending: string, stderr: string[] = []): void {
    this.toClient.end();
    setTimeout(() => {
      this.stderr = stderr;
      this.ended = ending;
      this.finish();
    }, 20);
  }

  private take(line: string): void {
    if (line === '') {
      this.signsOfLife++;
      return;
    }
    const message = JSON.parse(line) as Request & { nonce?: string; keepAlive?: number };
    if (message.nonce !== undefined) {
      this.nonce = message.nonce;
      this.keepAlive = message.keepAlive;
      if (this.greet) this.write(`trainyard-agent ${message.nonce}\n`);
      return;
    }
    this.requests.push(message);
    const result = this.answer?.(message);
    if (result !== undefined) this.send({ id: message.id, ...(result as object) });
    for (const wake of this.waiting.splice(0)) wake();
  }
}
