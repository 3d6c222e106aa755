// One channel of a connection: an ssh that hands its pipes to the one in control.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { Duplex, PassThrough, type Readable, type Writable } from 'node:stream';
import { errorText, systemCode } from '../../base/errors.js';
import { failure } from '../base/failures.js';
import { delivered } from '../../streams/delivered.js';
import type { SshChannel } from '../base/transport.js';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Milliseconds between two looks into the log of ssh. */
const lookEvery = 10;
/** Milliseconds that the node may take to open a channel. */
const patience = 20_000;
const opened = /master session id: \d+/;

/**
 * The process of a channel. Its own words go to a file, so that stderr is the other side's alone.
 */
export class Channel implements SshChannel {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly closed: Promise<{ code: number | null; signal: string | null }>;
  private ended = false;
  private handOver: () => void = () => undefined;

  private constructor(
    private readonly child: Child,
    private readonly log: string,
  ) {
    this.stdin = child.stdin;
    this.stdout = kept(child.stdout);
    this.stderr = kept(child.stderr);
    this.stdin.on('error', () => undefined); // the other side reads no more; `closed` says how it ended
    const handedOver = new Promise<void>((resolve) => {
      this.handOver = resolve;
    });
    this.closed = new Promise((resolve) => {
      child.on('close', (code) => {
        this.ended = true;
        // A signal here is how this ssh ended, not the command there, of whose signals ssh tells
        // only by code 255.
        const ending = { code, signal: null };
        void handedOver
          .then(() => Promise.all([delivered(this.stdout), delivered(this.stderr)]))
          .then(() => {
            resolve(ending);
          });
      });
    });
  }

  /** Resolves once the node has opened it. UserError (connection) where it does not. */
  static async open(
    ssh: string,
    words: readonly string[],
    { log, env, where, what }: { log: string; env: NodeJS.ProcessEnv; where: string; what: string },
  ): Promise<Channel> {
    const child = spawn(ssh, words, { detached: true, stdio: ['pipe', 'pipe', 'pipe'], env });
    const channel = new Channel(child, log);
    let startError: unknown;
    child.once('error', (error) => (startError = error));
    try {
      await channel.untilOpen();
      setImmediate(channel.handOver); // by then its new owner reads, if he is to
    } catch (error) {
      channel.dispose();
      channel.handOver();
      await rm(log, { force: true });
      const why = startError ?? error;
      throw failure(`${where}: ${what}: ${errorText(why)}`, { kind: 'connectAgain', host: where }, why);
    }
    void channel.closed.then(() => rm(log, { force: true }));
    return channel;
  }

  dispose(): void {
    if (this.ended) return;
    this.child.kill('SIGTERM');
    for (const stream of [this.child.stdout, this.child.stderr]) stream.destroy(); // nobody may be reading
    for (const stream of [this.stdout, this.stderr]) stream.resume(); // or has stopped
  }

  /** As one stream; destroyed, it ends the channel. */
  toDuplex(): Duplex {
    const { stdin: writable, stdout: readable } = this;
    this.stderr.resume();
    const duplex = Duplex.from({ readable, writable });
    duplex.on('close', () => {
      this.dispose();
    });
    return duplex;
  }

  private async untilOpen(): Promise<void> {
    for (const end = Date.now() + patience; ;) {
      const over = this.ended; // before reading, so that what it said last is read
      const text = await readLog(this.log);
      if (opened.test(text)) return;
      if (over) throw new Error(reason(text));
      if (Date.now() > end) throw new Error('the node did not answer in time');
      await new Promise((resolve) => setTimeout(resolve, lookEvery));
    }
  }
}

/**
 * Node throws away what nobody reads at the moment a child exits; a short command is over before
 * its reader is there.
 */
function kept(source: Readable): Readable {
  const stream = new PassThrough();
  source.pipe(stream);
  source.on('error', () => stream.end()); // as an end: `closed` says how it came
  source.on('close', () => stream.end());
  stream.on('close', () => {
    source.destroy();
  });
  return stream;
}

async function readLog(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  }
}

/** The line that says why, of all that ssh writes down. */
function reason(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('debug'));
  return (
    lines.find((line) => /refused|failed|closed|denied|prohibited/i.test(line)) ?? 'the connection is gone'
  );
}
