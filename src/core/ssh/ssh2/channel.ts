// A channel of ssh2 as a process's three pipes.
import { PassThrough, pipeline, Writable } from 'node:stream';
import type { Readable } from 'node:stream';
import type { ClientChannel } from 'ssh2';
import { delivered } from '../../streams/delivered.js';
import type { SshChannel, SshShell } from '../base/transport.js';

/** Bytes that wait for the channel before a writer is held up. */
const inputBuffer = 256 * 1024;
/** Bytes that wait for a reader before the channel is held up. */
const outputBuffer = 1024 * 1024;

/**
 * stdin is a stream of its own: the end of writing must not look like the end of the channel, and
 * what is written to a channel that went away must fail instead of waiting for ever.
 */
class ChannelInput extends Writable {
  constructor(private readonly channel: ClientChannel) {
    super({ highWaterMark: inputBuffer });
    channel.once('close', () => this.destroy());
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.channel.write(data, (error) => {
      done(error ?? null);
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.channel.end(() => {
      done();
    });
  }
}

/**
 * What a program prints. Taken from the channel also when nobody reads yet, so that the channel's
 * end is seen.
 */
function output(from: Readable): PassThrough {
  const stream = new PassThrough({ highWaterMark: outputBuffer });
  stream.on('error', () => undefined); // a reader's own pipeline tells it
  pipeline(from, stream, () => {
    from.resume(); // the reader left, and what still comes must not keep the channel open
  });
  return stream;
}

/** A program or a shell behind a channel of ssh2. Owns the channel. */
export class Ssh2Channel implements SshShell {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly closed: SshChannel['closed'];

  constructor(private readonly channel: ClientChannel) {
    this.stdin = new ChannelInput(channel);
    this.stdin.on('error', () => undefined); // the writer's own callback or pipeline tells it
    this.stdout = output(channel);
    this.stderr = output(channel.stderr);
    this.closed = this.end();
  }

  resize(columns: number, rows: number): void {
    this.channel.setWindow(rows, columns, 0, 0);
  }

  dispose(): void {
    this.channel.close();
    this.stdout.resume(); // what nobody reads any more must not keep the channel open
    this.stderr.resume();
  }

  private async end(): SshChannel['closed'] {
    const ending = await new Promise<Awaited<SshChannel['closed']>>((resolve) => {
      this.channel.once('close', (code?: number | null, signal?: string) => {
        resolve({ code: code ?? null, signal: signal ?? null });
      });
    });
    await Promise.all([delivered(this.stdout), delivered(this.stderr)]);
    return ending;
  }
}
