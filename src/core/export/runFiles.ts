// The files of a run, read into a record. Each look reads every file to the size that the node
// names, so a record is never half of what stands.
import type { AgentClient } from '../agent/agentClient.js';
import { pieceBytes, readRemote } from '../agent/remoteFile.js';
import { UserError } from '../base/errors.js';
import { join, type NodePath } from '../base/nodePath.js';
import { check } from '../base/validation.js';
import { hostSampleSchema, metricSchema } from '../contracts/metricsSchema.js';
import { figuresFile, parseFigure } from '../follow/figureLines.js';
import { ByteTail } from '../streams/tail.js';
import { RunRecord } from './runRecord.js';

/** Bytes asked for at once. */
const chunkBytes = 16 * pieceBytes;

interface OneFile {
  tail: ByteTail;
  onLine: (text: string) => void;
  /** The file was replaced by a shorter one. */
  onReset: () => void;
}

/** Of one run. */
export class RunFiles {
  private readonly known = new Map<string, OneFile>();
  private read: RunRecord | undefined;

  constructor(private readonly dir: NodePath) {}

  /**
   * Reads what is new. Errors are those of `AgentClient.request`, and UserError (usage) for a
   * folder whose run.json this version cannot read. Cancelled.
   */
  async look(client: AgentClient, signal?: AbortSignal): Promise<RunRecord> {
    const details = await client.request('run.get', { dir: this.dir });
    if (details.run === null) {
      const what = `${this.dir} has no run.json that this version reads`;
      throw new UserError('usage', what, 'Choose another run');
    }
    const record = (this.read ??= new RunRecord(details));
    record.details = details;
    for (const [name, size] of Object.entries(details.files)) {
      const file = this.known.get(name) ?? fileOf(name, record);
      if (!file) continue;
      this.known.set(name, file);
      await this.readTo(client, name, file, size, signal);
    }
    return record;
  }

  private async readTo(
    client: AgentClient,
    name: string,
    file: OneFile,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (size < file.tail.received) {
      file.tail = new ByteTail(0);
      file.onReset();
    }
    while (file.tail.received < size) {
      const at = file.tail.received;
      const length = Math.min(chunkBytes, size - at);
      const bytes = await readRemote(client, join(this.dir, name), at, length, signal);
      if (bytes.length === 0) return; // the file was cut meanwhile, which the next look sees
      for (const { text } of file.tail.push(at, bytes) ?? []) file.onLine(text);
    }
  }
}

function fileOf(name: string, record: RunRecord): OneFile | undefined {
  const of = (onLine: (text: string) => void, onReset: () => void): OneFile => ({
    tail: new ByteTail(0),
    onLine,
    onReset,
  });
  if (name === 'metrics.jsonl') {
    return of(
      (text) => {
        const raw = parsed(text);
        const line = check(metricSchema, raw);
        if (line.ok && typeof raw === 'object' && raw !== null) record.addMetric(raw, line.data);
      },
      () => {
        record.resetMetrics();
      },
    );
  }
  if (name === figuresFile) {
    return of(
      (text) => {
        const line = parseFigure(text);
        if (line) record.addFigure(line);
      },
      () => {
        record.resetFigures();
      },
    );
  }
  const host = /^gpus\/(.+)\.jsonl$/.exec(name)?.[1];
  if (host === undefined) return undefined;
  const take = (text: string): void => {
    const sample = check(hostSampleSchema, parsed(text));
    if (sample.ok) record.addSample(host, sample.data);
  };
  // The agent thins old samples. Those that were read stay.
  return of(take, () => undefined);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a line that was cut off by a full disk
  }
}
