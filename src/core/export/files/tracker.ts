// A run as a file of CSV or JSON on this machine.
import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { errorText, UserError } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files.js';
import type { Progress } from '../../base/progress.js';
import { factsOf } from '../facts.js';
import type { RunRecord } from '../runRecord.js';
import type { Tracker } from '../tracker.js';
import { csvOf, jsonOf } from './table.js';

/** What is exported, and where to. */
export interface FileOptions {
  form: 'csv' | 'json';
  /** The file, or the folder in which it is named after the run. Absolute. */
  path: string;
  /** The profile of the run. */
  profile: string;
}

/** Readable for all, as other files that a person makes. */
const mode = 0o644;

/** One run. The file is written anew each time, and is the old or the new one at any moment. */
export class FileTracker implements Tracker {
  private isFolder = false;
  private file: string | undefined;
  private written: string | undefined;

  constructor(private readonly options: FileOptions) {
    if (!isAbsolute(options.path)) throw new TypeError('the path of an export is not absolute');
  }

  async demand(): Promise<void> {
    const { path } = this.options;
    this.isFolder = await isFolder(path);
    if (this.isFolder || (await isFolder(dirname(path)))) return;
    throw new UserError('usage', `there is no folder ${dirname(path)}`, 'Make it, or choose another one');
  }

  async sync(record: RunRecord, { onProgress }: Progress): Promise<void> {
    const { form, path, profile } = this.options;
    const facts = factsOf(record, profile);
    const name = `${facts.id.replace(/[^\w.-]/g, '-')}.${form}`;
    const file = (this.file = this.isFolder ? join(path, name) : path);
    const text = form === 'csv' ? csvOf(record) : jsonOf(record, facts);
    if (text === this.written) return;
    onProgress?.(`writing ${basename(file)}`);
    try {
      await writeFileAtomic(file, text, mode);
    } catch (error) {
      const hint = 'Free some space, or choose another place';
      throw new UserError('failed', `${file} could not be written: ${errorText(error)}`, hint, {
        cause: error,
      });
    }
    this.written = text;
  }

  addCheckpoint(): Promise<void> {
    const hint = 'Export without checkpoints, and download them';
    return Promise.reject(new UserError('usage', 'a file of figures takes no checkpoints', hint));
  }

  finish(): Promise<string> {
    if (this.file === undefined) throw new TypeError('nothing was exported yet');
    return Promise.resolve(this.file);
  }
}

const isFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
};
