// The program on a node that makes connections from there, many on one channel: what takes the
// place of SSH's forwarding where a site's sshd forbids that.
import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { errorText } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { failure } from '../../ssh/base/failures.js';
import type { SshChannel } from '../../ssh/base/transport.js';
import { check } from '../../base/validation.js';
import { CarriedStream } from '../../streams/carriedStream.js';
import { frameBytes, FrameReader, type Frame } from '../../streams/forwardFrames.js';
import { LineTail } from '../../streams/lineTail.js';

/** What is connected to: a Unix socket of the node, or a port that the node reaches. */
export type Place = { path: string } | { host: string; port: number };

/** A place in an error message: its path, or `host port N`. */
export const placeText = (place: Place): string =>
  'path' in place ? place.path : `${place.host} port ${place.port}`;

/**
 * Milliseconds without a connection after which the program ends, so that its channel is free for
 * others.
 */
const idleTime = 30_000;

const closedSchema = z.object({ code: z.string(), text: z.string() });

interface Opening {
  place: Place;
  resolve: (stream: Duplex) => void;
  reject: (error: Error) => void;
}

/**
 * Makes connections by the program behind one channel. Owns the channel; the connections end with
 * it.
 */
export class ForwardProgram implements Disposable {
  private readonly streams = new Map<number, CarriedStream>();
  private readonly opening = new Map<number, Opening>();
  private readonly frames = new FrameReader();
  private readonly stderr = new LineTail();
  private idle: NodeJS.Timeout | undefined;
  private count = 0;
  private closed = false;

  /** `channel` is one on which the program has begun. */
  constructor(
    private readonly channel: SshChannel,
    private readonly where: string,
  ) {
    channel.stdout.on('data', (chunk: Buffer) => {
      this.take(chunk);
    });
    channel.stderr.on('data', (chunk: Buffer) => {
      this.stderr.push(chunk.toString('utf8'));
    });
    channel.stdin.on('error', () => undefined); // the channel's end tells it
    void channel.closed.then(() => {
      this.end(`the program on ${where} that makes connections has ended`);
    });
    this.restWhenIdle();
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** A connection from the node. UserError (connection) with the node's reason. */
  connect(place: Place): Promise<Duplex> {
    if (this.closed) return Promise.reject(this.lost('the program has ended'));
    clearTimeout(this.idle);
    const number = ++this.count;
    const stream = new CarriedStream({
      send: (kind, data, done) => {
        this.channel.stdin.write(frameBytes(kind, number, data), done);
      },
      forget: () => {
        this.streams.delete(number);
        this.restWhenIdle();
      },
    });
    this.streams.set(number, stream);
    return new Promise((resolve, reject) => {
      this.opening.set(number, { place, resolve, reject });
      this.channel.stdin.write(frameBytes('open', number, Buffer.from(JSON.stringify(place))));
    });
  }

  dispose(): void {
    this.end('the cluster was disconnected');
  }

  private take(chunk: Buffer): void {
    if (this.closed) return;
    try {
      for (const frame of this.frames.push(chunk)) this.handle(frame);
    } catch (error) {
      this.end(`the program on ${this.where} sent something else than was agreed: ${errorText(error)}`);
    }
  }

  private handle({ kind, number, data }: Frame): void {
    const stream = this.streams.get(number);
    if (!stream) return; // it was let go of meanwhile
    if (kind === 'opened') {
      this.opening.get(number)?.resolve(stream);
      this.opening.delete(number);
    } else if (kind === 'data') stream.arrive(data);
    else if (kind === 'credit') stream.allow(data.readUInt32BE(0));
    else if (kind === 'end') stream.sentAll();
    else if (kind === 'closed') this.closeOne(number, stream, data);
  }

  private closeOne(number: number, stream: CarriedStream, data: Buffer): void {
    const said = check(closedSchema, JSON.parse(data.toString('utf8')));
    const { code, text } = said.ok ? said.data : { code: '', text: 'it gave no reason' };
    const opening = this.opening.get(number);
    this.opening.delete(number);
    if (!opening) {
      stream.letGo(this.lost(text));
      return;
    }
    const isQuiet = code === 'ENOENT' || code === 'ECONNREFUSED';
    const hint = isQuiet ? 'Check that something listens there' : 'Check the address and its permissions';
    const what = `${this.where} does not connect to ${placeText(opening.place)}: ${text}`;
    opening.reject(failure(what, hint));
    stream.letGo(undefined);
  }

  private lost(why: string): Error {
    const hint = { kind: 'connectAgain', host: this.where } as const;
    return failure(`a connection from ${this.where} was lost: ${why}`, hint);
  }

  private restWhenIdle(): void {
    clearTimeout(this.idle);
    if (this.streams.size > 0 || this.closed) return;
    this.idle = setTimeout(() => {
      this.end('it was not used');
    }, idleTime);
    this.idle.unref();
  }

  private end(why: string): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.idle);
    const said = this.stderr.lines().at(-1);
    const error = this.lost(said === undefined || said === '' ? why : `${why}. It said: ${said}`);
    for (const { reject } of this.opening.values()) reject(error);
    this.opening.clear();
    for (const stream of [...this.streams.values()]) stream.letGo(error);
    this.channel.stdin.end();
    this.channel.dispose();
  }
}
