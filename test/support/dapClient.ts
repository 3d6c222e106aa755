// As much of a debugger as a test needs: the Debug Adapter Protocol over a socket.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from './harness.js';

type Body = Record<string, unknown>;
interface Message extends Body {
  seq: number;
  type: 'request' | 'response' | 'event';
  event?: string;
  request_seq?: number;
  success?: boolean;
  message?: string;
  body?: Body;
}

export class DapClient {
  private bytes = Buffer.alloc(0);
  private sent = 0;
  private readonly messages: Message[] = [];

  private constructor(private readonly socket: Socket) {
    socket.on('data', (piece: Buffer) => {
      this.bytes = Buffer.concat([this.bytes, piece]);
      for (let message = this.take(); message; message = this.take()) this.messages.push(message);
    });
  }

  static async connect(port: number): Promise<DapClient> {
    const socket = connect({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    return new DapClient(socket);
  }

  /** Sends a request. Returns its sequence number, which `answer` takes. */
  send(command: string, args: object = {}): number {
    const seq = ++this.sent;
    const text = JSON.stringify({ seq, type: 'request', command, arguments: args });
    this.socket.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return seq;
  }

  async answer(request: number): Promise<Body> {
    const found = await until(
      `the answer to request ${request}`,
      () => this.messages.find((each) => each.type === 'response' && each.request_seq === request),
      20,
    );
    if (found.success !== true) throw new Error(`request ${request} failed: ${found.message ?? ''}`);
    return found.body ?? {};
  }

  ask(command: string, args: object = {}): Promise<Body> {
    return this.answer(this.send(command, args));
  }

  async event(name: string): Promise<Body> {
    const found = await until(
      `the event ${name}`,
      () => this.messages.find((each) => each.type === 'event' && each.event === name),
      20,
    );
    return found.body ?? {};
  }

  close(): void {
    this.socket.destroy();
  }

  private take(): Message | undefined {
    const begin = this.bytes.indexOf('\r\n\r\n');
    if (begin < 0) return undefined;
    const length = Number(/Content-Length: (\d+)/.exec(this.bytes.toString('latin1', 0, begin))?.[1]);
    if (this.bytes.length < begin + 4 + length) return undefined;
    const text = this.bytes.toString('utf8', begin + 4, begin + 4 + length);
    this.bytes = this.bytes.subarray(begin + 4 + length);
    return JSON.parse(text) as Message;
  }
}
