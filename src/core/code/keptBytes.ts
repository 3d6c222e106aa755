// Contents of files that were just read, so that they need not be read again for sending. They lie
// in a few large pieces: ten thousand small ones keep the collector of garbage busy.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** Bytes, all of them together. */
const most = 64 << 20;
/** Bytes of one piece. A file that does not fit in what is left of it begins the next one. */
const pieceBytes = 4 << 20;

/** Bytes of files by their SHA-256. */
export class KeptBytes {
  private readonly kept = new Map<string, Buffer>();
  private room = most;
  private piece = Buffer.alloc(0);

  get(hash: string): Buffer | undefined {
    return this.kept.get(hash);
  }

  /**
   * What is in a file, which had `size` bytes; another number of bytes where it has changed since.
   * Good until the next call, unless `keep` follows. Throws the error of the file system.
   */
  read(path: string, size: number): Buffer {
    // One byte more than there is tells a file that has grown.
    if (size + 1 > pieceBytes) return readFileSync(path);
    if (size + 1 > this.piece.length) this.piece = Buffer.allocUnsafeSlow(pieceBytes);
    const file = openSync(path, 'r');
    try {
      let filled = 0;
      for (;;) {
        const count = readSync(file, this.piece, filled, size + 1 - filled, null);
        filled += count;
        if (count === 0 || filled > size) return this.piece.subarray(0, filled);
      }
    } finally {
      closeSync(file);
    }
  }

  /** Of what `read` gave, as long as there is room. */
  keep(hash: string, bytes: Buffer): void {
    if (bytes.length > this.room || this.kept.has(hash)) return;
    this.room -= bytes.length;
    this.kept.set(hash, bytes);
    if (bytes.buffer === this.piece.buffer) this.piece = this.piece.subarray(bytes.length);
  }
}
