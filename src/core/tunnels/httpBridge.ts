// A web address on 127.0.0.1 that leads to a server behind a private channel: how a browser here reaches TensorBoard.
//
// TensorBoard has no authentication, so a page of the web must not reach it through a name that it made point here (DNS
// rebinding): a request counts only when its Host, and its Origin where it has one, is an address that was given out.
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../errors.js';
import type { Disposable } from '../lifecycle.js';
import { nullLogger, type Logger } from '../log.js';
import { listenOnLoopback, loopback, type PortChoice } from './loopback.js';

export interface HttpBridgeOptions extends PortChoice {
  /** A new channel to the server behind. */
  connect: () => Duplex;
  logger?: Logger;
}

export class HttpBridge implements Disposable {
  private readonly authorities = new Set<string>();
  private sent = 0;
  private received = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: HttpBridgeOptions,
    private readonly logger: Logger,
  ) {
    for (const name of [loopback, 'localhost']) this.allow(`${name}:${this.port}`);
    server.on('request', (request, response) => void this.serve(request, response));
  }

  /** Listens, or throws UserError (preflight) when none of the ports is free. */
  static async open(options: HttpBridgeOptions): Promise<HttpBridge> {
    const server = await listenOnLoopback(() => createServer(), options);
    return new HttpBridge(server, options, options.logger ?? nullLogger);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://${loopback}:${this.port}/`;
  }

  /** Bytes of bodies that came from browsers. */
  get bytesIn(): number {
    return this.received;
  }

  /** Bytes of bodies that went to browsers. */
  get bytesOut(): number {
    return this.sent;
  }

  /** Requests may also name this `host:port`: the editor forwards the address to where its user is. */
  allow(authority: string): void {
    this.authorities.add(authority.toLowerCase());
  }

  dispose(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.isExpected(request)) {
      response.writeHead(403, { 'content-type': 'text/plain' });
      response.end('This address was not given out by Trainyard.\n');
      return;
    }
    request.on('data', (chunk: Buffer) => (this.received += chunk.length));
    try {
      const answer = await this.ask(request);
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      answer.on('data', (chunk: Buffer) => (this.sent += chunk.length));
      await pipeline(answer, response);
    } catch (error) {
      this.logger.log('debug', `bridge at port ${this.port}: ${errorText(error)}`);
      if (response.headersSent) {
        response.destroy();
        return;
      }
      response.writeHead(502, { 'content-type': 'text/plain' });
      response.end('TensorBoard does not answer.\n');
    }
  }

  private ask(request: IncomingMessage): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const inner = httpRequest(
        {
          createConnection: this.options.connect,
          method: request.method,
          path: request.url,
          // One request a channel, as the server behind sees it: it closes when it has answered.
          headers: { ...request.headers, connection: 'close' },
        },
        resolve,
      );
      inner.on('error', reject);
      pipeline(request, inner).catch(reject);
    });
  }

  private isExpected({ headers }: IncomingMessage): boolean {
    const { host, origin } = headers;
    if (host === undefined || !this.authorities.has(host.toLowerCase())) return false;
    if (origin === undefined) return true;
    return URL.canParse(origin) && this.authorities.has(new URL(origin).host);
  }
}
