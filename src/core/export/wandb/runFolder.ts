// One run as `wandb sync` reads it: what its .wandb file has, and what is added to it. Nothing about
// an export is kept elsewhere.
import { mkdir, open, readFile, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorText, systemCode, UserError } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files.js';
import { fileOf, findPlace, namesIn, placeOf, type RunOfOurs } from './place.js';
import {
  decodedRecord,
  encodedRecord,
  exitRecord,
  headerRecord,
  historyValues,
  metricName,
  type Kind,
  type WandbRecord,
} from './records.js';
import { fileStart, framed, recordsOf } from './transactionLog.js';

/** How much of a file: bytes and records. */
interface Extent {
  size: number;
  records: number;
}

/** One file, which may not be there yet. */
export class RunFolder {
  private extent: Extent = { size: 0, records: 0 };
  /** What is before the record of the run's end. */
  private beforeEnd: Extent | undefined;
  private readonly newest = new Map<Kind, Buffer>();
  private readonly axesOf = new Set<string>();
  private readonly curves = new Map<string, Map<number, number>>();
  private rowCount = 0;

  private constructor(
    private readonly run: RunOfOurs,
    private readonly number: number,
    private readonly axes: readonly string[],
  ) {}

  /**
   * That of `run`. A row of values has its step under one of the names `axes`. UserError (usage) for
   * a file that is none of W&B's.
   */
  static async find(run: RunOfOurs, axes: readonly string[]): Promise<RunFolder> {
    const found = await findPlace(run);
    const folder = new RunFolder(run, found?.number ?? 1, axes);
    if (found) await folder.read();
    return folder;
  }

  private get place(): { folder: string; id: string } {
    return placeOf(this.run, this.number);
  }

  /** The folder, which `wandb sync` takes. */
  get path(): string {
    return this.place.folder;
  }

  /** Of the run in W&B. */
  get id(): string {
    return this.place.id;
  }

  /** Rows of values in the file. */
  get rows(): number {
    return this.rowCount;
  }

  /** Values of each curve by step. */
  get values(): ReadonlyMap<string, ReadonlyMap<number, number>> {
    return this.curves;
  }

  /** Whether the file says over what a curve is drawn. */
  hasAxisOf(name: string): boolean {
    return this.axesOf.has(name);
  }

  /** Whether the newest record of that kind is this one. */
  has({ kind, body }: WandbRecord): boolean {
    return this.newest.get(kind)?.equals(body) === true;
  }

  /**
   * Writes the records behind those that are there; a record of the run's end makes way. UserError
   * (failed) where that is refused.
   */
  async add(records: readonly WandbRecord[]): Promise<void> {
    const file = fileOf(this.place);
    const isNew = this.extent.size === 0;
    const from = isNew ? { size: fileStart.length, records: 0 } : (this.beforeEnd ?? this.extent);
    const all = isNew ? [headerRecord(), ...records] : records;
    const parts: Buffer[] = [];
    const ends: number[] = [];
    let { size } = from;
    for (const [index, record] of all.entries()) {
      const part = framed(encodedRecord(record, from.records + index + 1), size);
      parts.push(part);
      size += part.length;
      ends.push(size);
    }
    try {
      if (isNew) {
        await mkdir(join(this.path, 'files'), { recursive: true });
        await writeFileAtomic(file, Buffer.concat([fileStart, ...parts]));
      } else {
        await this.overwrite(file, Buffer.concat(parts), from.size);
      }
      // W&B's mark that all was uploaded.
      await rm(`${file}.synced`, { force: true });
    } catch (error) {
      const hint = 'Free some space, or choose another folder';
      throw new UserError('failed', `${file} could not be written: ${errorText(error)}`, hint, {
        cause: error,
      });
    }
    this.extent = from;
    if (this.beforeEnd) this.newest.delete('exit');
    this.beforeEnd = undefined;
    for (const [index, record] of all.entries()) this.take(record, ends[index] ?? size);
  }

  /**
   * The run from its start, in place of this file. It becomes another run of W&B where this one may
   * have been uploaded, since W&B takes no value back.
   */
  async replace(): Promise<RunFolder> {
    const file = basename(fileOf(this.place));
    const names = (await namesIn(this.path)).filter((name) => name.startsWith(file));
    const isUploaded = names.some((name) => name.startsWith(`${file}.sync`));
    // A `wandb beta sync --live` that reads the file ends there.
    if (isUploaded && !this.beforeEnd) await this.add([exitRecord(1, 0)]);
    for (const name of names) await rm(join(this.path, name), { force: true });
    if (!isUploaded) return new RunFolder(this.run, this.number, this.axes);
    for (const folder of [join(this.path, 'files'), this.path]) {
      await rmdir(folder).catch((error: unknown) => {
        if (systemCode(error) !== 'ENOTEMPTY') throw error; // W&B's own logs of the upload
      });
    }
    return new RunFolder(this.run, this.number + 1, this.axes);
  }

  private async overwrite(file: string, bytes: Buffer, from: number): Promise<void> {
    const handle = await open(file, 'r+');
    try {
      if ((await handle.stat()).size !== this.extent.size) {
        throw new Error('another program wrote into it meanwhile');
      }
      await handle.truncate(from);
      await handle.write(bytes, 0, bytes.length, from);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  private async read(): Promise<void> {
    const file = fileOf(this.place);
    const content = await readFile(file);
    const found = recordsOf(content);
    if (!found) {
      const what = `${file} is no file of W&B`;
      throw new UserError('usage', what, 'Move it away, or choose another folder');
    }
    this.extent = { size: fileStart.length, records: 0 };
    for (const { data, end } of found) this.take(decodedRecord(data), end);
    if (content.length === this.extent.size) return;
    // An export was ended while it wrote.
    const handle = await open(file, 'r+');
    await handle.truncate(this.extent.size).finally(() => handle.close());
  }

  /** The file's next record, which ends at `end`. */
  private take(record: WandbRecord | undefined, end: number): void {
    if (record?.kind === 'exit') this.beforeEnd = this.extent;
    this.extent = { size: end, records: this.extent.records + 1 };
    if (!record) return;
    const { kind, body } = record;
    if (kind === 'history') this.takeRow(historyValues(body));
    else if (kind === 'metric') this.axesOf.add(metricName(body));
    else this.newest.set(kind, body);
  }

  private takeRow(values: ReadonlyMap<string, number>): void {
    this.rowCount++;
    const axis = this.axes.find((name) => values.has(name));
    const step = axis === undefined ? undefined : values.get(axis);
    if (step === undefined) return;
    for (const [name, value] of values) {
      if (name === axis || name.startsWith('_')) continue;
      const curve = this.curves.get(name) ?? new Map<number, number>();
      this.curves.set(name, curve.set(step, value));
    }
  }
}
