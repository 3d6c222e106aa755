// Memory of buffers, given back at once. A buffer's bytes lie outside of the heap, and waiting for
// the collector means whole collections of it, one for each few dozen megabytes that went by, and
// new pages from the system meanwhile.
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
