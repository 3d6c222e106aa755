// A web address on 127.0.0.1 that leads to a server behind a private channel: how a browser here
// reaches TensorBoard.
//
// TensorBoard has no authentication. Another user of this machine must not reach it, so each
// address has a key. A page of the web must not reach it through a name that it made point here
// (DNS rebinding), so a request counts only when its Host, and its Origin where it has one, is an
// address that was given out.
// Bytes are passed on as they are, because an editor changes what `node:http` does for its
// extensions (proxies).
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText, throwIfCancelled } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import { nullLogger, type Logger } from '../base/log.js';
import { BridgeKey } from './bridgeKey.js';
import { listenOnLoopback, loopback, type PortChoice } from './loopback.js';
import { closingHead, fieldOf, parseHead, targetOf, withTarget, type RequestHead } from './requestHead.js';

/** Milliseconds that the server behind has for the answer to the question whether it serves. */
const answerTime = 10_000;

/** Where a bridge leads. The bridge owns the channels that `connect` makes. */
export interface HttpBridgeOptions extends PortChoice {
  /** A new channel to the server behind. */
  connect: () => Promise<Duplex>;
  logger?: Logger;
  /** How one gets an address with the key: for a browser that came without. */
  howToOpen?: string;
}

/**
 * An address on this machine that leads to a private server. Whoever opened the bridge disposes it.
 */
export class HttpBridge implements Disposable {
  private readonly authorities = new Set<string>();
  private readonly key = new BridgeKey();
  private readonly open = new Set<Duplex>();
  readonly port: number;
  private lastProblem: unknown;
  private sent = 0;
  private received = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: HttpBridgeOptions,
    private readonly logger: Logger,
  ) {
    this.port = (server.address() as AddressInfo).port;
    for (const name of [loopback, 'localhost']) this.allow(`${name}:${this.port}`);
    server.on('connection', (socket) => void this.serve(socket));
  }

  /** Listens, or throws UserError (preflight) when none of the ports is free. */
  static async open(options: HttpBridgeOptions): Promise<HttpBridge> {
    const server = await listenOnLoopback(() => createServer({ allowHalfOpen: true }), options);
    return new HttpBridge(server, options, options.logger ?? nullLogger);
  }

  /** The whole address, with the key. It is for the user alone. */
  get url(): string {
    return this.under(this.root);
  }

  /** The address without the key: what an editor is asked to forward. */
  get root(): string {
    return `http://${loopback}:${this.port}/`;
  }

  /**
   * The whole address where `root` was forwarded to. `once`: good for one use, for an address that
   * others may see.
   */
  under(root: string, once = false): string {
    const url = new URL(root);
    const folder = once ? this.key.folderForOneUse() : this.key.folder;
    url.pathname = url.pathname.replace(/\/?$/, `/${folder}`);
    return url.href;
  }

  /** Bytes that came from browsers. */
  get bytesIn(): number {
    return this.received;
  }

  /** Bytes that went to browsers. */
  get bytesOut(): number {
    return this.sent;
  }

  /** Requests under way. */
  get connections(): number {
    return this.server.listening ? this.open.size : 0;
  }

  /**
   * Requests may also name this `host:port`: the editor forwards the address to where its user is.
   */
  allow(authority: string): void {
    this.authorities.add(authority.toLowerCase());
  }

  /**
   * Why the last question whether the server answers found no way to it; undefined when there was
   * one.
   */
  get problem(): unknown {
    return this.lastProblem;
  }

  /** Whether the server behind answers now, in a few seconds at most. Cancelled. */
  async answers(signal?: AbortSignal): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort();
    }, answerTime);
    try {
      const does = await this.answersBefore(AbortSignal.any([late.signal, ...(signal ? [signal] : [])]));
      throwIfCancelled(signal);
      return does;
    } finally {
      clearTimeout(timer);
    }
  }

  /** False where `end` is aborted first. */
  private async answersBefore(end: AbortSignal): Promise<boolean> {
    this.lastProblem = undefined;
    const ended = new Promise<undefined>((resolve) => {
      const over = (): void => {
        resolve(undefined);
      };
      if (end.aborted) over();
      else end.addEventListener('abort', over, { once: true });
    });
    const connecting = this.options.connect();
    let channel: Duplex | undefined;
    try {
      channel = await Promise.race([connecting, ended]);
    } catch (error) {
      this.lastProblem = error;
      this.logger.log('debug', `bridge at port ${this.port}: ${errorText(error)}`);
      return false;
    }
    if (!channel) {
      connecting.then(
        (unused) => unused.destroy(),
        (error: unknown) => {
          this.logger.log('debug', `bridge at port ${this.port}: ${errorText(error)}`);
        },
      );
      return false;
    }
    return firstAnswer(channel, ended);
  }

  dispose(): void {
    this.server.close();
    for (const stream of this.open) stream.destroy();
  }

  private async serve(browser: Socket): Promise<void> {
    this.open.add(browser);
    browser.on('close', () => this.open.delete(browser));
    try {
      const head = await readHead(browser);
      if (head === undefined) return; // a browser opens connections that it may not need
      if (!this.isExpected(head)) {
        answer(browser, '403 Forbidden', 'This address was not given out by Trainyard.\n');
        return;
      }
      const verdict = this.key.judge(targetOf(head));
      if (verdict.kind === 'inside') await this.pass(browser, withTarget(head, verdict.target));
      else if (verdict.kind === 'moved') answer(browser, '302 Found', '', verdict.to);
      else answer(browser, '403 Forbidden', `${withoutKey}\n${this.options.howToOpen ?? ''}\n`);
    } catch (error) {
      this.logger.log('debug', `bridge at port ${this.port}: ${errorText(error)}`);
      if (error instanceof SyntaxError || error instanceof RangeError) {
        answer(browser, '400 Bad Request', `${error.message}\n`);
      } else browser.destroy();
    }
  }

  private async pass(browser: Socket, head: RequestHead): Promise<void> {
    let inner: Duplex;
    try {
      inner = await this.options.connect();
    } catch (error) {
      this.logger.log('debug', `bridge at port ${this.port}: ${errorText(error)}`);
      answer(browser, '502 Bad Gateway', 'TensorBoard cannot be reached now.\n');
      return;
    }
    this.open.add(inner);
    const start = closingHead(head);
    this.received += start.length + head.rest.length;
    browser.on('data', (chunk: Buffer) => (this.received += chunk.length));
    browser.on('close', () => inner.destroy());
    if (browser.destroyed) inner.destroy(); // it left while the channel was made
    try {
      inner.write(Buffer.concat([start, head.rest]));
      browser.pipe(inner);
      await firstByte(inner);
      inner.on('data', (chunk: Buffer) => (this.sent += chunk.length));
      await pipeline(inner, browser);
    } catch (error) {
      if (!browser.destroyed && browser.bytesWritten === 0) {
        answer(browser, '502 Bad Gateway', 'TensorBoard does not answer.\n');
      } else browser.destroy();
      this.logger.log('debug', `bridge at port ${this.port}: ${errorText(error)}`);
    } finally {
      inner.destroy();
      this.open.delete(inner);
    }
  }

  private isExpected(head: RequestHead): boolean {
    const host = fieldOf(head, 'host');
    const origin = fieldOf(head, 'origin');
    if (host === undefined || !this.authorities.has(host.toLowerCase())) return false;
    if (origin === undefined) return true;
    return URL.canParse(origin) && this.authorities.has(new URL(origin).host);
  }
}

/** Resolves with undefined when the connection ends before a head is whole. */
function readHead(socket: Socket): Promise<RequestHead | undefined> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const finish = (): void => {
      socket.off('data', take);
      socket.off('end', leave);
      socket.off('close', leave);
      socket.pause();
    };
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      try {
        const head = parseHead(bytes);
        if (!head) return;
        finish();
        resolve(head);
      } catch (error) {
        finish();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const leave = (): void => {
      finish();
      socket.destroy();
      resolve(undefined);
    };
    socket.on('data', take);
    socket.on('end', leave);
    socket.on('close', leave);
    socket.on('error', reject);
  });
}

/** Resolves when there is something to read; rejects when the channel fails or ends before. */
function firstByte(channel: Duplex): Promise<void> {
  return new Promise((resolve, reject) => {
    channel.once('readable', () => {
      // It is said of the end too, when a server dies with the request in its queue.
      if (channel.readableLength > 0) resolve();
      else reject(new Error('the channel ended'));
    });
    channel.once('error', reject);
    channel.once('close', () => {
      reject(new Error('the channel was closed'));
    });
  });
}

/** Asks for the first page: whether it comes before `ended` and before the channel's end. */
function firstAnswer(channel: Duplex, ended: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (does: boolean): void => {
      resolve(does);
      channel.destroy();
    };
    channel.on('error', () => {
      finish(false);
    });
    channel.on('close', () => {
      finish(false);
    });
    channel.once('data', (bytes: Buffer) => {
      finish(/^HTTP\/1\.[01] [23]/.test(bytes.toString('latin1')));
    });
    void ended.then(() => {
      finish(false);
    });
    channel.write('HEAD / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  });
}

const withoutKey =
  'This TensorBoard is private: its address has a key, which this address lacks or which was used before.';

/** The bridge's own answer. `location`: where the browser goes on to. */
function answer(socket: Socket, status: string, text: string, location?: string): void {
  const fields = [
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'cache-control: no-store',
    ...(location === undefined ? [] : [`location: ${location}`]),
    'connection: close',
  ];
  socket.end(`HTTP/1.1 ${status}\r\n${fields.join('\r\n')}\r\n\r\n${text}`);
}
