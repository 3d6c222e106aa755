// A channel of ssh2 as a process's three pipes.
import { Writable } from 'node:stream';
import type { Readable } from 'node:stream';
import type { ClientChannel } from 'ssh2';
import type { SshChannel, SshShell } from './transport.js';

const chunk = 256 * 1024;

/**
 * stdin is a stream of its own: the end of writing must not look like the end of the channel, and what is written to a
 * channel that went away must fail instead of waiting for ever.
 */
class ChannelInput extends Writable {
  constructor(private readonly channel: ClientChannel) {
    super({ highWaterMark: chunk });
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

export class Ssh2Channel implements SshShell {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly closed: SshChannel['closed'];

  constructor(private readonly channel: ClientChannel) {
    this.stdin = new ChannelInput(channel);
    this.stdin.on('error', () => undefined); // the writer's own callback or pipeline tells it
    this.stdout = channel;
    this.stderr = channel.stderr;
    this.closed = new Promise((resolve) => {
      channel.once('close', (code?: number | null, signal?: string) => {
        resolve({ code: code ?? null, signal: signal ?? null });
      });
    });
  }

  resize(columns: number, rows: number): void {
    this.channel.setWindow(rows, columns, 0, 0);
  }

  dispose(): void {
    this.channel.close();
    this.channel.resume(); // what nobody reads any more must not keep the channel open
    this.channel.stderr.resume();
  }
}
