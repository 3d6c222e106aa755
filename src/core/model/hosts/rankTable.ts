// Memory of one rank's process over time, and where the time of its steps goes, from the `host`
// lines of metrics.jsonl.
import type { HostLine } from '../../contracts/metricsSchema.js';
import { rankTimesOf } from './slowRanks.js';
import { sliceStart, type Cursor, type Slice } from '../../streams/slices.js';

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
  /** Of its newest steps: medians a step, in milliseconds. Null where the rank does not say. */
  times: { compute: number; comm: number; input: number } | null;
}

/** One rank over time, in at most `capacity` rows. */
export class RankTable {
  private time: number[] = [];
  private used: number[] = [];
  private latest: HostLine | undefined;
  private revision = 0;

  constructor(readonly capacity = 480) {}

  push(line: HostLine): void {
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
    const said = rankTimesOf(latest);
    const times = said ? { compute: said.computeMs, comm: said.commMs, input: said.inputMs } : null;
    return {
      from,
      rows: { rank, host, device, peak, times, time: this.time.slice(from), used: this.used.slice(from) },
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
