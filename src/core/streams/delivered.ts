// The end of a program's output, as its reader sees it.
import type { Readable } from 'node:stream';

/** Resolves when a reader has everything; who has not begun to read is not waited for. */
export function delivered(stream: Readable): Promise<void> {
  if (stream.readableFlowing === null || stream.readableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('end', resolve).once('close', resolve);
  });
}
