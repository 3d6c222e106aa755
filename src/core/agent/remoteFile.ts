// A file on a node: read in parts, or followed line by line as the file grows. Following goes on
// over new connections when one is lost.
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import { ByteTail, type TailLine } from '../streams/tail.js';
import { agentErrors } from '../contracts/agentApi.js';
import { AgentError, type AgentClient } from './agentClient.js';
import type { NodePath } from '../base/nodePath.js';

/** The agent cuts its answers at this size. */
export const pieceBytes = 256 * 1024;

/**
 * What stands in the file from `offset` on, at most `length` bytes; empty when there is no such
 * file. Cancelled.
 */
export async function readRemote(
  client: AgentClient,
  path: NodePath,
  offset: number,
  length: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = offset; at < offset + length;) {
    const piece = await readPiece(client, path, at, Math.min(pieceBytes, offset + length - at), signal);
    if (piece === undefined || piece.length === 0) break;
    pieces.push(piece);
    at += piece.length;
  }
  return Buffer.concat(pieces);
}

async function readPiece(
  client: AgentClient,
  path: NodePath,
  offset: number,
  length: number,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  try {
    const params = { path, offset, length };
    const { data } = await client.request('file.read', params, signal ? { signal } : {});
    return Buffer.from(data, 'base64');
  } catch (error) {
    if (error instanceof AgentError && error.code === agentErrors.notFound) return undefined;
    throw error;
  }
}

/**
 * Lines of one growing file. `attach` again with a new client after the old one is gone: nothing is
 * lost or doubled.
 */
export class FollowedFile implements Disposable {
  private readonly tail: ByteTail;
  private readonly lines = new Emitter<TailLine>();
  private readonly resets = new Emitter<undefined>();
  private attached: { client: AgentClient; id: number; subscription: Disposable } | undefined;
  private drained: Promise<void> = Promise.resolve();

  readonly onLine: Event<TailLine> = this.lines.event;
  /** The file was cut or replaced: what came before no longer stands. */
  readonly onReset: Event<undefined> = this.resets.event;

  constructor(
    readonly path: NodePath,
    start = 0,
  ) {
    this.tail = new ByteTail(start);
  }

  /** What stands after the last line so far. */
  get unfinished(): string {
    return this.tail.unfinished;
  }

  /** Where that stands in the file. */
  get unfinishedAt(): number {
    return this.tail.unfinishedAt;
  }

  /** Of a progress bar there, its newest state. */
  get newestSegment(): string | undefined {
    return this.tail.newestSegment;
  }

  get isAttached(): boolean {
    return this.attached?.client.isClosed === false;
  }

  /**
   * Begins to follow from where the lines so far end. False when the file is not there yet: attach
   * again later.
   */
  async attach(client: AgentClient): Promise<boolean> {
    this.detach();
    const id = client.newFollowId();
    const subscription = client.onNotification(({ method, params }) => {
      if (params.id !== id) return;
      if (method === 'file.reset') this.reset(client);
      else this.take(client, params.offset, Buffer.from(params.data, 'base64'));
    });
    this.attached = { client, id, subscription };
    try {
      await client.request('file.follow', { path: this.path, offset: this.tail.received, id });
      return true;
    } catch (error) {
      subscription.dispose();
      this.attached = undefined;
      if (error instanceof AgentError && error.code === agentErrors.notFound) return false;
      throw error;
    }
  }

  /** Reads what the file holds now, to its end. Calls follow one another. */
  drain(client: AgentClient): Promise<void> {
    const work = this.drained.then(async () => {
      for (;;) {
        const offset = this.tail.received;
        const piece = await readPiece(client, this.path, offset, pieceBytes);
        if (piece === undefined || piece.length === 0) return;
        this.emit(this.tail.push(offset, piece) ?? []);
      }
    });
    this.drained = work.catch(() => undefined);
    return work;
  }

  dispose(): void {
    this.detach();
    this.lines.dispose();
    this.resets.dispose();
  }

  private detach(): void {
    const { attached } = this;
    this.attached = undefined;
    attached?.subscription.dispose();
    if (attached?.client.isClosed !== false) return;
    attached.client.request('file.unfollow', { id: attached.id }).catch(() => undefined);
  }

  private take(client: AgentClient, offset: number, chunk: Buffer): void {
    const lines = this.tail.push(offset, chunk);
    if (lines) this.emit(lines);
    else this.drain(client).catch(() => undefined); // the connection is gone: the next attach goes on from here
  }

  private reset(client: AgentClient): void {
    this.tail.restart();
    this.resets.fire(undefined);
    this.drain(client).catch(() => undefined);
  }

  private emit(lines: readonly TailLine[]): void {
    for (const line of lines) this.lines.fire(line);
  }
}
