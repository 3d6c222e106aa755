// Memory of buffers, given back at once. A buffer's bytes lie outside of the heap, and waiting for
// the collector means whole collections of it, one for each few dozen megabytes that went by, and
// new pages from the system meanwhile.
import type { Duplex } from 'node:stream';
import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** Closed: what is handed over to it goes nowhere, and its memory is freed. */
const drain = closedPort();

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.close();
  return port1;
}

/**
 * Frees the bytes now; the buffer is empty from then on. For who owns it alone and hands it to
 * nobody who may still read it: a write must have ended. A part of a larger piece of memory, as
 * Node's own pool gives small ones, is left to the collector.
 */
export function free(buffer: Uint8Array): void {
  const { buffer: memory } = buffer;
  if (!(memory instanceof ArrayBuffer) || memory.byteLength !== buffer.byteLength) return;
  drain.postMessage(null, [memory]);
}

/** Bytes: more than the header and the padding of an SSH packet together. */
const aroundPacket = 512;
/** A part of Node's pool is less than half of it, so that such a part never is nearly all of it. */
const leastPacket = 4096;

/**
 * Frees the memory of a packet whose data `chunk` is: `chunk` is nearly all that lies in it. For
 * who owns the packet alone, as `free`; any other chunk is left to the collector.
 */
export function freePacket(chunk: Uint8Array): void {
  const { buffer: memory, byteLength } = chunk;
  if (byteLength < leastPacket || memory.byteLength - byteLength > aroundPacket) return;
  if (memory instanceof ArrayBuffer) drain.postMessage(null, [memory]);
}

const copying = new WeakSet<Duplex>();

/**
 * Says of a stream that it copies: each chunk read from it lies in memory that nobody else reads,
 * and the stream has a copy of each chunk written to it once the write has ended.
 */
export function markCopying(stream: Duplex): void {
  copying.add(stream);
}

/** Whether its reader and its writer may free the chunks. */
export const isCopying = (stream: Duplex): boolean => copying.has(stream);
