// SHA-256 of files that were hashed before, by size, times and number: what has not changed is not
// read again.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { check } from '../base/validation.js';

const fileSchema = z.object({
  version: z.literal(1),
  files: z.record(z.string(), z.tuple([z.number(), z.number(), z.number(), z.number(), z.string()])),
});

/** A file that changed within this time before it was read may change again unnoticed. */
const settled = 2000;

/** Of one code folder. `cache`: where it is kept. */
export class HashCache {
  private readonly fresh = new Map<string, [number, number, number, number, string]>();

  private constructor(
    private readonly path: string,
    private readonly known: z.infer<typeof fileSchema>['files'],
  ) {}

  /** What cannot be read counts as empty. */
  static async open(cache: string, folder: string): Promise<HashCache> {
    const name = createHash('sha256').update(folder).digest('hex').slice(0, 16);
    const path = join(cache, 'code', `${name}.json`);
    try {
      const read = check(fileSchema, JSON.parse(await readFile(path, 'utf8')));
      return new HashCache(path, read.ok ? read.data.files : {});
    } catch {
      return new HashCache(path, {}); // none yet, or one that was cut short: all is read once more
    }
  }

  /** In hex; undefined where the file is another than it was, or was never read. */
  get(path: string, stats: Stats): string | undefined {
    const found = this.known[path];
    if (!found) return undefined;
    const [size, modified, changed, number, hash] = found;
    const same =
      size === stats.size && modified === stats.mtimeMs && changed === stats.ctimeMs && number === stats.ino;
    if (!same) return undefined;
    this.fresh.set(path, found);
    return hash;
  }

  set(path: string, stats: Stats, hash: string): void {
    if (Date.now() - Math.max(stats.ctimeMs, stats.mtimeMs) < settled) return;
    this.fresh.set(path, [stats.size, stats.mtimeMs, stats.ctimeMs, stats.ino, hash]);
  }

  /** Only what was asked for is kept. A cache that cannot be written is no error. */
  async save(): Promise<void> {
    const partial = `${this.path}.tmp-${process.pid}`;
    try {
      await mkdir(join(this.path, '..'), { recursive: true });
      await writeFile(partial, this.text(), { mode: 0o600 });
      await rename(partial, this.path);
    } catch {
      await rm(partial, { force: true }).catch(() => undefined);
    }
  }

  /** An object of ten thousand keys takes longer to make than its text. */
  private text(): string {
    const files = [...this.fresh].map(([path, known]) => `${JSON.stringify(path)}:${JSON.stringify(known)}`);
    return `{"version":1,"files":{${files.join(',')}}}`;
  }
}
