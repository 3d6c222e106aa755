// An HTTP server for one file that breaks off, forgets ranges, changes the file or asks who is
// there, as it is told.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerOptions } from 'node:https';
import { listening } from './listening.js';

interface Behaviour {
  body: Buffer;
  ranges: boolean;
  /**
   * For each answer in turn, how many bytes it sends until the connection breaks; afterwards all of
   * them.
   */
  cuts: number[];
  /** Asked first; true when it has answered. */
  before: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface WebServer {
  url: string;
  behaviour: Behaviour;
  /** Every request: method, path and the headers that matter here. */
  asked: { path: string; range?: string; ifRange?: string; ifNoneMatch?: string; authorization?: string }[];
  close: () => Promise<void>;
}

const etagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;

function answer({ behaviour, asked }: WebServer, request: IncomingMessage, response: ServerResponse): void {
  const { range, authorization } = request.headers;
  const ifRange = request.headers['if-range']?.toString();
  const ifNoneMatch = request.headers['if-none-match'];
  asked.push({
    path: request.url ?? '',
    ...(range === undefined ? {} : { range }),
    ...(ifRange === undefined ? {} : { ifRange }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
    ...(authorization === undefined ? {} : { authorization }),
  });
  if (behaviour.before(request, response)) return;
  const etag = etagOf(behaviour.body);
  if (ifNoneMatch === etag) {
    response.writeHead(304).end();
    return;
  }
  const begin = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? NaN);
  const partial = behaviour.ranges && begin < behaviour.body.length && ifRange === etag;
  const body = partial ? behaviour.body.subarray(begin) : behaviour.body;
  const headers = { 'content-length': body.length, ...(behaviour.ranges ? { etag } : {}) };
  const { length } = behaviour.body;
  response.writeHead(
    partial ? 206 : 200,
    partial ? { ...headers, 'content-range': `bytes ${begin}-${length - 1}/${length}` } : headers,
  );
  const cut = behaviour.cuts.shift();
  if (cut === undefined) response.end(body);
  else response.write(body.subarray(0, cut), () => setTimeout(() => response.socket?.destroy(), 50));
}

export async function serve(body: Buffer, tls?: ServerOptions): Promise<WebServer> {
  const listener: RequestListener = (request, response) => {
    answer(web, request, response);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const { port, close } = await listening(server);
  const web: WebServer = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    behaviour: { body, ranges: true, cuts: [], before: () => false },
    asked: [],
    close,
  };
  return web;
}
