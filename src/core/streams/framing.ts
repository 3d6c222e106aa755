// Bytes to lines, and the nonce line behind which the agent's protocol begins.

/**
 * Cuts a byte stream into lines (newline left out). A line longer than `limit` bytes is an error.
 */
export class LineFramer {
  private parts: Buffer[] = [];
  private pending = 0;

  constructor(private readonly limit: number) {}

  /**
   * The lines that `chunk` completes; what follows the last newline is kept. RangeError over the
   * limit.
   */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.keep(chunk.subarray(from, end));
      lines.push(this.parts.length === 1 ? (this.parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.parts));
      this.parts = [];
      this.pending = 0;
      from = end + 1;
    }
    if (from < chunk.length) this.keep(chunk.subarray(from));
    return lines;
  }

  private keep(part: Buffer): void {
    this.pending += part.length;
    if (this.pending > this.limit) throw new RangeError(`a line of more than ${this.limit} bytes`);
    this.parts.push(part);
  }
}

/**
 * Skips whatever a login shell prints until `trainyard-agent <nonce>` and its newline have gone by.
 */
export class NonceGate {
  private readonly marker: Buffer;
  private tail: Buffer = Buffer.alloc(0);
  private skippedBytes = 0;

  constructor(
    nonce: string,
    private readonly limit: number,
  ) {
    this.marker = Buffer.from(`trainyard-agent ${nonce}\n`);
  }

  /** The noise that came last before the nonce line, for an error message. */
  get noise(): string {
    return this.tail.toString('utf8').slice(-400).trim();
  }

  /**
   * What follows the nonce line, once it has been seen. RangeError when more than `limit` bytes
   * came before it.
   */
  push(chunk: Buffer): Buffer | undefined {
    const seen = this.tail.length === 0 ? chunk : Buffer.concat([this.tail, chunk]);
    const at = seen.indexOf(this.marker);
    if (at >= 0) return seen.subarray(at + this.marker.length);
    const keep = Math.min(seen.length, Math.max(this.marker.length - 1, 400));
    this.skippedBytes += seen.length - keep;
    this.tail = Buffer.from(seen.subarray(seen.length - keep));
    if (this.skippedBytes + keep > this.limit) {
      throw new RangeError(`more than ${this.limit} bytes before the agent's first line`);
    }
    return undefined;
  }
}
