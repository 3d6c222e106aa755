// What else happens at each write of a stream. Each function replaces the stream's `write`. A
// socket must be connected before: `connect` replaces its `write`, too.
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';

type Data = Uint8Array | string;
type Done = (error?: Error | null) => void;
type Write = (data: Data, encoding?: BufferEncoding, done?: Done) => boolean;

function replaceWrite(stream: Writable, by: (write: Write) => Write): void {
  const write = by(stream.write.bind(stream) as Write);
  stream.write = (data: Data, encoding?: BufferEncoding | Done, done?: Done): boolean =>
    typeof encoding === 'function' ? write(data, undefined, encoding) : write(data, encoding, done);
}

/**
 * What is written in one turn goes in one piece: one system call, and no more segments on the
 * network than there must be.
 */
export function gatherWrites(socket: Socket): void {
  let isGathering = false;
  const gather = (): void => {
    if (isGathering) return;
    isGathering = true;
    socket.cork();
    process.nextTick(() => {
      isGathering = false;
      socket.uncork();
    });
  };
  replaceWrite(socket, (write) => (data, encoding, done) => {
    gather();
    return write(data, encoding, done);
  });
}

/**
 * `free` gets what was written, once the write has ended well, where `mayFree` said true before.
 * Not where the writer itself asks to be called then, nor after an error: somebody may have the
 * data still.
 */
export function freeWritten(
  stream: Writable,
  free: (data: Uint8Array) => void,
  mayFree: (data: Uint8Array) => boolean = () => true,
): void {
  replaceWrite(stream, (write) => (data, encoding, done) => {
    if (done !== undefined || typeof data === 'string' || !mayFree(data)) return write(data, encoding, done);
    return write(data, encoding, (error) => {
      if (!error) free(data);
    });
  });
}
