// Lines out of pieces of a growing file, each with the byte offset at which it stands.

/** Bytes at the end of an unfinished line in which its newest segment is looked for. */
const segmentBytes = 64 * 1024;

/** A whole line of a file, without its newline. */
export interface TailLine {
  /** Of the line's first byte in the file. */
  offset: number;
  text: string;
}

/**
 * A line longer than this is not one of ours; it is dropped up to its newline instead of filling
 * the memory. Of one with carriage returns, a progress bar, what follows the last one is kept.
 */
const maxLineBytes = 8 * 1024 * 1024;

/**
 * Keeps the unfinished last line until its newline arrives. Pieces may overlap what was seen (it is
 * skipped), so a reader that attaches anew, from any offset at or before `received`, neither loses
 * nor doubles a line.
 */
export class ByteTail {
  private parts: Buffer[] = [];
  private bytes = 0;
  private lineStart: number;
  private end: number;
  private dropping = false;

  constructor(start = 0) {
    this.lineStart = start;
    this.end = start;
  }

  /** Offset after the last byte seen: where to read on. */
  get received(): number {
    return this.end;
  }

  /** What stands after the last newline; empty where nothing does. */
  get unfinished(): string {
    return Buffer.concat(this.parts).toString('utf8');
  }

  /** Where that stands in the file. */
  get unfinishedAt(): number {
    return this.lineStart;
  }

  /**
   * Of an unfinished line with carriage returns its newest segment that is not empty; undefined for
   * any other line.
   */
  get newestSegment(): string | undefined {
    const last: Buffer[] = [];
    for (let at = this.parts.length - 1, bytes = 0; at >= 0 && bytes < segmentBytes; at--) {
      const part = this.parts[at] ?? Buffer.alloc(0);
      last.unshift(part);
      bytes += part.length;
    }
    const text = Buffer.concat(last).subarray(-segmentBytes).toString('utf8');
    if (!text.includes('\r')) return undefined;
    return text
      .split('\r')
      .reverse()
      .find((segment) => segment.trim() !== '');
  }

  /**
   * Lines that `chunk`, which stands at `offset`, completes; undefined when bytes before it are
   * missing.
   */
  push(offset: number, chunk: Buffer): TailLine[] | undefined {
    if (offset > this.end) return undefined;
    const fresh = chunk.subarray(this.end - offset);
    const lines: TailLine[] = [];
    let from = 0;
    for (let newline = fresh.indexOf(10); newline >= 0; newline = fresh.indexOf(10, from)) {
      if (this.parts.length === 0 && !this.dropping) {
        lines.push({ offset: this.lineStart, text: fresh.toString('utf8', from, newline) });
      } else {
        this.keep(fresh.subarray(from, newline));
        // Decoded as a whole, so a character split between two pieces is one again.
        if (!this.dropping) {
          lines.push({ offset: this.lineStart, text: Buffer.concat(this.parts).toString('utf8') });
        }
        this.clear();
      }
      this.lineStart = this.end + newline + 1;
      from = newline + 1;
    }
    this.keep(fresh.subarray(from));
    this.end += fresh.length;
    return lines;
  }

  /** The file was replaced or cut: everything is read again from its start. */
  restart(): void {
    this.clear();
    this.lineStart = 0;
    this.end = 0;
  }

  private keep(part: Buffer): void {
    if (part.length === 0 || this.dropping) return;
    this.parts.push(part);
    this.bytes += part.length;
    if (this.bytes <= maxLineBytes) return;
    const line = Buffer.concat(this.parts);
    const segment = line.subarray(line.lastIndexOf(13, -2) + 1);
    this.clear();
    if (segment.length < line.length) {
      this.parts = [Buffer.from(segment)]; // a copy: the rest is not kept
      this.bytes = segment.length;
    } else this.dropping = true;
  }

  private clear(): void {
    this.parts = [];
    this.bytes = 0;
    this.dropping = false;
  }
}
