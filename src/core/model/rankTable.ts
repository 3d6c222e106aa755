// Memory of one rank's process over time, from the `host` lines of metrics.jsonl.
import { sliceStart, type Cursor, type Slice } from '../streams/slices.js';

/** One rank's memory over time, oldest row first. `time` is in seconds since the epoch. */
export interface RankColumns {
  rank: number;
  host: string;
  device: string;
  time: number[];
  /** Bytes. */
  used: number[];
  /** Bytes, the highest so far. */
  peak: number;
}

/**
 * What of a `host` line the table reads. Memory is in bytes, and `time` in seconds since the epoch.
 */
export interface RankMemory {
  rank: number;
  host: string;
  device: string;
  time: number;
  memory_used: number;
  memory_peak: number;
}

/** The memory of one rank over time, in at most `capacity` rows. */
export class RankTable {
  private time: number[] = [];
  private used: number[] = [];
  private latest: RankMemory | undefined;
  private revision = 0;

  constructor(readonly capacity = 480) {}

  push(line: RankMemory): void {
    if (this.time.length >= this.capacity) this.thin();
    this.latest = line;
    this.time.push(line.time);
    this.used.push(line.memory_used);
  }

  cursor(): Cursor {
    return { revision: this.revision, length: this.time.length };
  }

  /** Undefined while there is nothing new. */
  slice(cursor?: Cursor): Slice<RankColumns> | undefined {
    const now = this.cursor();
    const { latest } = this;
    if (!latest || (cursor?.revision === now.revision && cursor.length === now.length)) return undefined;
    const from = sliceStart(cursor, now);
    const { rank, host, device, memory_peak: peak } = latest;
    return {
      from,
      rows: { rank, host, device, peak, time: this.time.slice(from), used: this.used.slice(from) },
    };
  }

  /** Keeps the higher of each two in the older half. */
  private thin(): void {
    const half = Math.floor(this.time.length / 4) * 2;
    const time: number[] = [];
    const used: number[] = [];
    for (let index = 1; index < half; index += 2) {
      time.push(this.time[index] ?? 0);
      used.push(Math.max(this.used[index - 1] ?? 0, this.used[index] ?? 0));
    }
    this.time = [...time, ...this.time.slice(half)];
    this.used = [...used, ...this.used.slice(half)];
    this.revision++;
  }
}
