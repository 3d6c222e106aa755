// The half of a download that is there: a folder beside the final one, which goes on later.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText, systemCode, throwIfCancelled, UserError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { check, problemsText } from '../base/validation.js';
import { manifestSchema } from '../contracts/checkpointSchema.js';
import type * as z from 'zod/mini';

/** A checked manifest.json. */
export type Manifest = z.infer<typeof manifestSchema>;
/** One file of it. */
export type ManifestFile = Manifest['files'][number];

/** What says which files a checkpoint has. */
export const manifestName = 'manifest.json';

/** A name that means the same place on every system: letters, digits, dots, dashes. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/;

/** A manifest from somewhere else. UserError (failed) where it is none. */
export function readManifest(text: string, where: string): Manifest {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw damaged(where, errorText(error));
  }
  const checked = check(manifestSchema, raw);
  if (!checked.ok) throw damaged(where, problemsText(checked.problems));
  const { files } = checked.data;
  const odd = files.find(({ name }) => !plainName.test(name) || name === manifestName);
  if (odd) throw damaged(where, `it names ${JSON.stringify(odd.name)}`);
  if (new Set(files.map(({ name }) => name)).size !== files.length) {
    throw damaged(where, 'a name stands twice');
  }
  return checked.data;
}

const damaged = (where: string, why: string): UserError =>
  new UserError('failed', `${where} is no manifest of a checkpoint: ${why}`, 'Choose another checkpoint');

/** Bytes of a file; 0 where there is none. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** SHA-256 of a whole file, in hex. Cancelled. */
export async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    throwIfCancelled(signal);
    hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

/** How what gathers is laid out, where it is no checkpoint. */
export interface Layout {
  /** The folder of the files. The list of them is not in it, since a file may have its name. */
  inside: string;
  /**
   * Of the list that an earlier download left: names of files that have changed since, an empty
   * name for all. Undefined where no download left it.
   */
  outdated: (before: string) => readonly string[] | undefined;
  /** What to do where a file has another sum than the list says. */
  differs: string;
}

const ofCheckpoint: Layout = {
  inside: '',
  outdated: () => [],
  differs:
    'Download it again: that file alone comes anew. Where it stays so, the file is damaged on the node',
};

/**
 * The folder in which the files of one download gather. It goes on with what an earlier download of
 * the very same list left. Of another list it keeps what its layout says, of a checkpoint nothing.
 */
export class PartialFolder {
  private constructor(
    readonly path: string,
    private readonly final: string,
    private readonly layout: Layout,
  ) {}

  /** UserError (preflight) where the folder cannot be made, (usage) where it is something else. */
  static async open(final: string, list: string, layout = ofCheckpoint): Promise<PartialFolder> {
    const partial = new PartialFolder(`${final}.partial`, final, layout);
    try {
      await partial.prepare(list);
      return partial;
    } catch (error) {
      if (error instanceof UserError) throw error;
      const what = `${partial.path} cannot be made: ${errorText(error)}`;
      throw new UserError('preflight', what, 'Choose a folder that you may write in', { cause: error });
    }
  }

  /** How much of a file is there; one that is too long begins anew. */
  async received({ name, bytes }: ManifestFile): Promise<number> {
    const there = await sizeOf(this.file(name));
    if (there <= bytes) return there;
    await rm(this.file(name));
    return 0;
  }

  /** Appends the bytes received to a file that has `from` bytes. */
  async append(name: string, from: number, pieces: AsyncIterable<Buffer>): Promise<void> {
    if (from === 0) await mkdir(dirname(this.file(name)), { recursive: true });
    const handle = await open(this.file(name), from === 0 ? 'w' : 'r+', 0o644);
    try {
      let at = from;
      for await (const piece of pieces) {
        await handle.write(piece, 0, piece.length, at);
        at += piece.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  /**
   * Compares every file with the manifest. A file that differs is removed, so that it comes again.
   * UserError (failed) that names it, Cancelled.
   */
  async verify(files: readonly ManifestFile[], signal?: AbortSignal): Promise<void> {
    for (const { name, bytes, sha256 } of files) {
      const size = await sizeOf(this.file(name));
      const sum = size === bytes ? await sha256Of(this.file(name), signal) : undefined;
      if (sum === sha256) continue;
      await rm(this.file(name), { force: true });
      const why =
        sum === undefined ? `has ${size} bytes, not ${bytes}` : `has another SHA-256 than ${sha256}`;
      throw new UserError('failed', `${name} ${why}, so it was removed`, this.layout.differs);
    }
  }

  /** Gives the folder, or the one file of it that is wanted, its final name. */
  async finish(only = ''): Promise<void> {
    await rename(this.file(only), this.final);
    if (this.layout.inside !== '') await rm(this.path, { recursive: true });
  }

  private async prepare(list: string): Promise<void> {
    const before = await textOf(join(this.path, manifestName));
    if (before === list) return;
    if (this.layout.inside === '') await rm(this.path, { recursive: true, force: true });
    else await this.dropOutdated(before);
    await mkdir(this.path, { recursive: true });
    await writeFileAtomic(join(this.path, manifestName), list, 0o644);
  }

  /** What is the user's own under such a name is left alone. */
  private async dropOutdated(before: string | undefined): Promise<void> {
    const names = before === undefined ? await this.namesWithoutList() : this.layout.outdated(before);
    if (names === undefined) {
      const what = `${this.path} is there, and is not what a download has left`;
      throw new UserError('usage', what, 'Choose another folder, or move it away');
    }
    for (const name of names) await rm(this.file(name), { recursive: true, force: true });
  }

  /** Nothing where there is no folder, or an empty one. */
  private async namesWithoutList(): Promise<string[] | undefined> {
    try {
      return (await readdir(this.path)).length === 0 ? [] : undefined;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  private file(name: string): string {
    return join(this.path, this.layout.inside, name);
  }
}

/** Undefined where there is no such file. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
