// One node's figures over time, bounded: what is old is thinned.
import type { HostSample } from '../../contracts/metricsSchema.js';
import { GpuUse } from './idleGpus.js';
import { gpuTrouble, missingFigures } from './gpuTrouble.js';
import { sliceStart, type Cursor, type Slice } from '../../streams/slices.js';

type Figure = number | null;
type GpuSample = HostSample['gpus'][number];

interface GpuColumns {
  /** As NVML counts. */
  index: number;
  uuid: string;
  name: string;
  memoryTotal: number;
  /** Bytes of memory in use, one for each of the host's times. `memoryTotal` is in bytes too. */
  used: Figure[];
  /** Percent. */
  utilization: Figure[];
  /** Degrees Celsius, at the newest time. */
  temperature: Figure;
  /** Watts, at the newest time. */
  power: Figure;
  /** Memory in bytes, at the newest time. `run`: the name of the folder of the run that it is of. */
  processes: { pid: number; memory: Figure; run: string | null }[];
  /** What is wrong with it, in words; empty where nothing is. */
  trouble: string;
}

/**
 * One host's figures as columns of equal length, oldest row first. `time` is in seconds since the
 * epoch, memory and `diskFree` in bytes, and `cpuPercent` is of the whole host, 0 to 100.
 */
export interface HostColumns {
  host: string;
  memoryTotal: number;
  diskFree: Figure;
  time: number[];
  cpuPercent: number[];
  memoryUsed: number[];
  gpus: GpuColumns[];
  /** Which figures are old because nobody answers, in words; empty where none are. */
  missing: string;
}

interface Row {
  time: number;
  cpuPercent: number;
  memoryUsed: number;
  used: Figure[];
  utilization: Figure[];
}

const mean = (a: Figure | undefined, b: Figure | undefined): Figure =>
  typeof a !== 'number' || typeof b !== 'number' ? (a ?? b ?? null) : (a + b) / 2;
const higher = (a: Figure | undefined, b: Figure | undefined): Figure =>
  typeof a !== 'number' || typeof b !== 'number' ? (a ?? b ?? null) : Math.max(a, b);

/** Memory is the higher of two rows, because what ran out matters; use is their mean. */
function mergeRows(a: Row, b: Row): Row {
  return {
    time: b.time,
    cpuPercent: (a.cpuPercent + b.cpuPercent) / 2,
    memoryUsed: Math.max(a.memoryUsed, b.memoryUsed),
    used: b.used.map((value, index) => higher(a.used[index], value)),
    utilization: b.utilization.map((value, index) => mean(a.utilization[index], value)),
  };
}

/** The figures of one host over time, in at most `capacity` rows. */
export class HostTable {
  private rows: Row[] = [];
  private latest: HostSample | undefined;
  private revision = 0;
  private gpuUse = new GpuUse();

  /**
   * When `capacity` rows are full, the older half of them is merged in pairs, so what is new stays
   * fine.
   */
  constructor(
    readonly host: string,
    readonly capacity = 480,
  ) {}

  push(sample: HostSample): void {
    if (this.latest && !sameGpus(this.latest.gpus, sample.gpus)) this.clear(); // a reboot with other GPUs
    if (this.rows.length >= this.capacity) this.thin();
    this.latest = sample;
    this.gpuUse.add(sample);
    this.rows.push({
      time: sample.time,
      cpuPercent: sample.cpu_percent,
      memoryUsed: sample.memory_used,
      used: sample.gpus.map((gpu) => gpu.memory_used),
      utilization: sample.gpus.map((gpu) => gpu.utilization),
    });
  }

  /** The node's file was written anew, or the node came back as another. */
  clear(): void {
    this.rows = [];
    this.latest = undefined;
    this.gpuUse = new GpuUse();
    this.revision++;
  }

  /** Another one after each `clear`. */
  get use(): GpuUse {
    return this.gpuUse;
  }

  get newest(): HostSample | undefined {
    return this.latest;
  }

  cursor(): Cursor {
    return { revision: this.revision, length: this.rows.length };
  }

  /** Undefined while there is nothing, or nothing new. */
  slice(cursor?: Cursor): Slice<HostColumns> | undefined {
    const now = this.cursor();
    const { latest } = this;
    if (!latest || (cursor?.revision === now.revision && cursor.length === now.length)) return undefined;
    const from = sliceStart(cursor, now);
    const rows = this.rows.slice(from);
    return {
      from,
      rows: {
        host: this.host,
        memoryTotal: latest.memory_total,
        diskFree: latest.disk_free,
        time: rows.map(({ time }) => time),
        cpuPercent: rows.map(({ cpuPercent }) => cpuPercent),
        memoryUsed: rows.map(({ memoryUsed }) => memoryUsed),
        gpus: latest.gpus.map((gpu, index) => ({
          index: gpu.index,
          uuid: gpu.uuid,
          name: gpu.name,
          memoryTotal: gpu.memory_total,
          used: rows.map(({ used }) => used[index] ?? null),
          utilization: rows.map(({ utilization }) => utilization[index] ?? null),
          temperature: gpu.temperature,
          power: gpu.power_watts,
          processes: gpu.processes.map(({ pid, memory_used: memory, run = null }) => ({ pid, memory, run })),
          trouble: gpuTrouble(gpu).join(', '),
        })),
        missing: missingFigures(latest).join(', '),
      },
    };
  }

  private thin(): void {
    const half = Math.floor(this.rows.length / 4) * 2;
    const thinned: Row[] = [];
    for (let index = 0; index < half; index += 2) {
      const [a, b] = this.rows.slice(index, index + 2);
      if (a && b) thinned.push(mergeRows(a, b));
    }
    this.rows = [...thinned, ...this.rows.slice(half)];
    this.revision++;
  }
}

function sameGpus(a: readonly GpuSample[], b: readonly GpuSample[]): boolean {
  return a.length === b.length && a.every(({ uuid }, index) => uuid === b[index]?.uuid);
}
