// The figures of hosts and GPUs in a run's folder, gpus/<host>.jsonl. For a list of runs only the
// newest are read, and earlier ones where those show a GPU that does nothing.
import type { AgentClient } from '../agent/agentClient.js';
import { readRemote } from '../agent/remoteFile.js';
import { join, type NodePath } from '../base/nodePath.js';
import { check } from '../base/validation.js';
import type { RunEntry } from '../contracts/agentApi.js';
import { hostSampleSchema, type HostSample } from '../contracts/metricsSchema.js';
import { GpuUse, gpusHeldBy } from '../model/hosts/idleGpus.js';
import { ByteTail } from '../streams/tail.js';

/** Of a file that is read for the first time, and most of one at a look. */
const firstBytes = 32 * 1024;
const mostBytes = 4 * 1024 * 1024;
/** Seconds between two looks: a GPU is idle after many minutes. */
const lookEvery = 60;

/** The host whose figures a file of the run's folder has; undefined for another file. */
export const hostOfFile = (name: string): string | undefined => /^gpus\/(.+)\.jsonl$/.exec(name)?.[1];

/** The figures in a line; undefined for a line that is none. */
export function parseSample(text: string): HostSample | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return undefined; // cut off by a full disk, or the half where reading begins in the middle
  }
  const result = check(hostSampleSchema, raw);
  return result.ok ? result.data : undefined;
}

/** What one host's file came to so far. */
class HostReading {
  readonly use = new GpuUse();
  private readonly tail: ByteTail;

  constructor(start: number) {
    this.tail = new ByteTail(start);
  }

  get received(): number {
    return this.tail.received;
  }

  async readOn(client: AgentClient, path: NodePath, size: number): Promise<void> {
    const from = this.tail.received;
    const bytes = await readRemote(client, path, from, size - from);
    for (const { text } of this.tail.push(from, bytes) ?? []) {
      const sample = parseSample(text);
      if (sample) this.use.add(sample);
    }
  }
}

/** What the GPUs of one run do, by host. */
export class GpuUseReading {
  private readonly hosts = new Map<string, HostReading>();
  private looked = 0;

  get use(): ReadonlyMap<string, GpuUse> {
    return new Map([...this.hosts].map(([host, { use }]) => [host, use]));
  }

  /** Errors are those of `AgentClient.request`. */
  async readOn(client: AgentClient, entry: RunEntry, files: Readonly<Record<string, number>>): Promise<void> {
    const now = entry.state?.updated ?? 0;
    const held = gpusHeldBy(entry.run);
    if (held.length === 0 || now - this.looked < lookEvery) return;
    this.looked = now;
    for (const [name, size] of Object.entries(files)) {
      const host = hostOfFile(name);
      const own = held.find((one) => one.host === undefined || one.host === host);
      if (host === undefined || !own) continue;
      await this.readHost(client, { host, path: join(entry.dir, name), size, gpus: own.gpus });
    }
  }

  private async readHost(
    client: AgentClient,
    { host, path, size, gpus }: { host: string; path: NodePath; size: number; gpus: readonly number[] },
  ): Promise<void> {
    const known = this.hosts.get(host);
    if (known && known.received <= size && size - known.received <= mostBytes) {
      await known.readOn(client, path, size);
      return;
    }
    for (let bytes = firstBytes; ; bytes *= 8) {
      const start = Math.max(0, size - Math.min(bytes, mostBytes));
      const reading = new HostReading(start);
      await reading.readOn(client, path, size);
      this.hosts.set(host, reading);
      if (start === 0 || bytes >= mostBytes || !reading.use.needsEarlier(gpus)) return;
    }
  }
}
