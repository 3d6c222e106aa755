// Which profile a run was started on from this machine, so that its id alone is enough to find it
// again.
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { systemCode } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { check } from '../base/validation.js';

/** Runs kept, the newest ones. */
const mostRuns = 500;
const lineSchema = z.object({ id: z.string(), profile: z.string() });
/** A run, and the profile on which it was started from this machine. */
export type KnownRun = z.infer<typeof lineSchema>;

/** The list of the runs that were started from this machine: runs.jsonl in `home`. */
export class RunBook {
  private readonly path: string;

  constructor(private readonly home: string) {
    this.path = join(home, 'runs.jsonl');
  }

  /**
   * Other processes may add at the same time: nobody's line is lost, unless it comes in the very
   * moment in which the file is shortened, once in 500 runs.
   */
  async add(id: string, profile: string): Promise<void> {
    await mkdir(this.home, { recursive: true, mode: 0o700 });
    const before = await this.text();
    const isWhole = before === '' || before.endsWith('\n');
    await appendFile(this.path, `${isWhole ? '' : '\n'}${lineOf({ id, profile })}`, { mode: 0o600 });
    if (linesOf(before).length < 2 * mostRuns) return;
    const lines = newest(linesOf(await this.text()));
    await writeFileAtomic(this.path, lines.map(lineOf).join(''), 0o600);
  }

  /** Every run that is kept, the newest first. */
  async runs(): Promise<KnownRun[]> {
    return (await this.read()).reverse();
  }

  /**
   * For `last`, an id, or the one run whose id begins with or holds `text`; undefined when that is
   * none or several.
   */
  async profileOf(text: string): Promise<string | undefined> {
    const lines = await this.read();
    if (text === 'last') return lines.at(-1)?.profile;
    const exact = lines.find(({ id }) => id === text);
    if (exact || text === '') return exact?.profile;
    const found = new Set(lines.filter(({ id }) => id.includes(text)).map(({ profile }) => profile));
    return found.size === 1 ? [...found][0] : undefined;
  }

  private async read(): Promise<KnownRun[]> {
    return newest(linesOf(await this.text()));
  }

  private async text(): Promise<string> {
    try {
      return await readFile(this.path, 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return '';
      throw error;
    }
  }
}

/** What cannot be understood is left out: the book only saves typing. */
const linesOf = (text: string): KnownRun[] =>
  text.split('\n').flatMap((line) => {
    try {
      const parsed = check(lineSchema, JSON.parse(line));
      return parsed.ok ? [parsed.data] : [];
    } catch {
      return [];
    }
  });

const lineOf = (run: KnownRun): string => `${JSON.stringify(run)}\n`;

/** Each run once, where it was added last; the oldest first. */
function newest(lines: readonly KnownRun[]): KnownRun[] {
  const last = new Map<string, KnownRun>();
  for (const line of lines) {
    last.delete(line.id);
    last.set(line.id, line);
  }
  return [...last.values()].slice(-mostRuns);
}
