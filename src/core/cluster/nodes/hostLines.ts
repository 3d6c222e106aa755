// What commands on hosts print, line by line, and never more of it at once than memory has place
// for.
import { StringDecoder } from 'node:string_decoder';

/** Bytes of one line. */
const longestLine = 64 * 1024;
/** Bytes of lines that have not ended, of all streams of all hosts. */
const mostPending = 16 * 1024 * 1024;
/** Bytes of output that are kept to be shown afterwards, of all hosts. */
const mostShown = 16 * 1024 * 1024;

/** One line that a command printed on a host, without its newline. */
export interface HostLine {
  host: string;
  stream: 'stdout' | 'stderr';
  text: string;
  /** Bytes at its end that are left out. */
  cut: number;
}

/** The line as a person reads it. */
export function lineText({ text, cut }: Pick<HostLine, 'text' | 'cut'>): string {
  return cut === 0 ? text : `${text} … (${cut} more bytes of this line are left out)`;
}

/** Bytes that a line of one of so many streams may have. */
export function lineLimit(streams: number): number {
  return Math.min(longestLine, Math.floor(mostPending / Math.max(1, streams)));
}

/**
 * Cuts one stream of bytes into lines, each with `limit` bytes at most. Its time is linear in the
 * bytes.
 */
export class LineCutter {
  private kept = Buffer.alloc(0);
  private length = 0;
  private cut = 0;

  constructor(
    private readonly limit: number,
    private readonly onLine: (line: { text: string; cut: number }) => void,
  ) {}

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.keep(chunk.subarray(from, end));
      this.give();
      from = end + 1;
    }
    this.keep(chunk.subarray(from));
  }

  /** Gives what stands after the last newline. */
  end(): void {
    if (this.length > 0 || this.cut > 0) this.give();
  }

  private keep(part: Buffer): void {
    const taken = Math.min(part.length, this.limit - this.length);
    const wanted = this.length + taken;
    if (wanted > this.kept.length) {
      const grown = Buffer.alloc(Math.min(this.limit, Math.max(wanted, 2 * this.kept.length)));
      this.kept.copy(grown, 0, 0, this.length);
      this.kept = grown;
    }
    part.copy(this.kept, this.length, 0, taken);
    this.length = wanted;
    this.cut += part.length - taken;
  }

  private give(): void {
    const { cut } = this;
    const withReturn = cut === 0 && this.length > 0 && this.kept[this.length - 1] === 0x0d;
    const bytes = this.kept.subarray(0, this.length - (withReturn ? 1 : 0));
    // The decoder keeps back a character of which only a part is there.
    const text = cut === 0 ? bytes.toString('utf8') : new StringDecoder('utf8').write(bytes);
    this.length = 0;
    this.cut = 0;
    this.onLine({ text, cut });
  }
}

/** What hosts print, kept until all have ended: of each its first lines. */
export class Transcripts {
  private readonly hosts = new Map<string, { lines: string[]; left: number; leftOut: number }>();

  constructor(hosts: readonly string[], most = mostShown) {
    for (const host of hosts) {
      this.hosts.set(host, { lines: [], left: Math.floor(most / hosts.length), leftOut: 0 });
    }
  }

  add(line: HostLine): void {
    const entry = this.hosts.get(line.host);
    if (!entry) return;
    const text = lineText(line);
    const size = Buffer.byteLength(text) + 1;
    if (entry.leftOut > 0 || size > entry.left) entry.leftOut++;
    else {
      entry.left -= size;
      entry.lines.push(text);
    }
  }

  /** What one of them printed, and how many lines are left out. */
  of(host: string): string[] {
    const { lines = [], leftOut = 0 } = this.hosts.get(host) ?? {};
    return leftOut === 0 ? lines : [...lines, `… (${leftOut} more lines are left out)`];
  }
}
