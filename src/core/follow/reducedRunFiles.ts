// Runs as comparisons need them, kept on this machine: the metrics of a run that is over are read
// once.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import type { NodePath } from '../base/nodePath.js';
import type { ComparedRun } from '../compare/comparedRun.js';
import { isOver } from '../model/runStatus.js';
import type { ReducedRuns } from './compareReader.js';

/** Files kept, the newest ones. */
const mostFiles = 1000;
/** Counts up with every change of what is kept, or of how it is made. */
const version = 4;

const hash = (...texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\0')).digest('hex');

/** One file for each run in `folder`. A file that cannot be read or written costs a reading only. */
export class ReducedRunFiles implements ReducedRuns {
  constructor(private readonly folder: string) {}

  async get(profile: string, dir: NodePath, stamp: string): Promise<ComparedRun | undefined> {
    let text: string;
    try {
      text = await readFile(this.path(profile, dir), 'utf8');
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
    const head = headOf(stamp);
    // The head was written with the rest, at once; so the rest is what was written.
    return text.startsWith(head) ? (JSON.parse(text.slice(head.length)) as ComparedRun) : undefined;
  }

  async put(profile: string, dir: NodePath, stamp: string, run: ComparedRun): Promise<void> {
    if (!isOver(run.status)) return;
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(this.path(profile, dir), headOf(stamp) + JSON.stringify(run), 0o600);
      await this.prune();
    } catch (error) {
      if (systemCode(error) === undefined) throw error; // the disk is full: it is read again next time
    }
  }

  private async prune(): Promise<void> {
    const names = await readdir(this.folder);
    if (names.length <= mostFiles) return;
    const files = await Promise.all(
      names.map(async (name) => ({ name, time: (await stat(join(this.folder, name))).mtimeMs })),
    );
    files.sort((a, b) => a.time - b.time);
    for (const { name } of files.slice(0, files.length - mostFiles)) {
      await rm(join(this.folder, name), { force: true });
    }
  }

  private path(profile: string, dir: NodePath): string {
    return join(this.folder, `${hash(profile, dir)}.json`);
  }
}

const headOf = (stamp: string): string => `${version} ${hash(stamp)}\n`;
