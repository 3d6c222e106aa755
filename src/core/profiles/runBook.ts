// Which profile a run was started on from this machine, so that its id alone is enough to find it
// again.
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { errorText, systemCode, UserError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { check } from '../base/validation.js';

/** Runs kept, the newest ones. */
const mostRuns = 500;
const runSchema = z.object({ id: z.string(), profile: z.string(), name: z.optional(z.string()) });
/** Another name of a run that stands above. Versions that knew no names pass over such a line. */
const namedSchema = z.object({ named: z.string(), name: z.string() });
const lineSchema = z.union([runSchema, namedSchema]);
type Line = z.infer<typeof lineSchema>;
/** A run, the profile on which it was started from this machine, and the name that it was given. */
export type KnownRun = z.infer<typeof runSchema>;

/** The list of the runs that were started from this machine: runs.jsonl in `home`. */
export class RunBook {
  private readonly path: string;

  constructor(private readonly home: string) {
    this.path = join(home, 'runs.jsonl');
  }

  /**
   * Other processes may add at the same time: nobody's line is lost, unless it comes in the very
   * moment in which the file is shortened, once in 500 runs. Without `name` a run keeps the one
   * that it has.
   */
  add(id: string, profile: string, name = ''): Promise<void> {
    return this.append({ id, profile, ...(name === '' ? {} : { name }) });
  }

  /** Gives a run that was started here another name; an empty one takes it away. */
  async rename(id: string, name: string): Promise<void> {
    const run = (await this.read()).find((one) => one.id === id);
    if (run && (run.name ?? '') !== name) await this.append({ named: id, name });
  }

  private async append(line: Line): Promise<void> {
    await mkdir(this.home, { recursive: true, mode: 0o700 });
    const before = await this.text();
    const isWhole = before === '' || before.endsWith('\n');
    await appendFile(this.path, `${isWhole ? '' : '\n'}${lineOf(line)}`, { mode: 0o600 });
    if (linesOf(before).length < 2 * mostRuns) return;
    const lines = await this.read();
    await writeFileAtomic(this.path, lines.map(lineOf).join(''), 0o600);
  }

  /** Every run that is kept, the newest first. */
  async runs(): Promise<KnownRun[]> {
    return (await this.read()).reverse();
  }

  /**
   * For `last`, an id, the name of a run, or the one run whose id begins with or holds `text`;
   * undefined when that is none or several. UserError (usage) where runs of several profiles
   * have the name.
   */
  async profileOf(text: string): Promise<string | undefined> {
    const lines = await this.read();
    if (text === 'last') return lines.at(-1)?.profile;
    const exact = lines.find(({ id }) => id === text);
    if (exact || text === '') return exact?.profile;
    const named = lines.filter(({ name }) => name === text).reverse();
    if (new Set(named.map(({ profile }) => profile)).size > 1) throw severalNamed(text, named);
    if (named[0]) return named[0].profile;
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

/** The profiles that are saved, as `ProfileStore.contents` has them. */
interface Contents {
  profiles: readonly { name: string }[];
  broken: readonly { name: string }[];
}

/**
 * The profile of the run that `text` names; undefined where the book does not know one: then it is
 * `local`. UserError (usage) where its profile is no more: another run, of `local`, might be meant
 * by `text` there.
 */
export async function bookedProfile(
  book: Pick<RunBook, 'profileOf'>,
  text: string,
  saved: Contents,
): Promise<string | undefined> {
  const profile = await book.profileOf(text);
  const isThere = [...saved.profiles, ...saved.broken].some(({ name }) => name === profile);
  if (profile === undefined || isThere) return profile;
  throw new UserError(
    'usage',
    `"${text}" was started on profile ${profile}, which is not there any more`,
    'Name the profile that has the run now',
  );
}

/**
 * Writes something of a started run into the book. The run goes on also where that fails: `say` gets
 * one line then, with the error in the words of a user interface.
 */
export async function noteRun(
  id: string,
  write: () => Promise<void>,
  say: (text: string) => void,
  words: (error: unknown) => string = errorText,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    say(`${id} is not noted: ${words(error)}`);
  }
}

/** What cannot be understood is left out: the book only saves typing. */
const linesOf = (text: string): Line[] =>
  text.split('\n').flatMap((line): Line[] => {
    try {
      const read = check(lineSchema, JSON.parse(line));
      return read.ok ? [read.data] : [];
    } catch {
      return [];
    }
  });

const lineOf = (line: Line): string => `${JSON.stringify(line)}\n`;

function severalNamed(text: string, runs: readonly KnownRun[]): UserError {
  const some = runs.slice(0, 5).map(({ id, profile }) => `${id} of profile ${profile}`);
  const more = runs.length > some.length ? `, and ${runs.length - some.length} more` : '';
  return new UserError(
    'usage',
    `"${text}" names ${runs.length} runs: ${some.join(', ')}${more}`,
    'Write the id of one',
  );
}

/** Each run once, where it was added last, with its last name; the oldest first. */
function newest(lines: readonly Line[]): KnownRun[] {
  const last = new Map<string, KnownRun>();
  for (const line of lines) {
    if ('named' in line) {
      const run = last.get(line.named);
      if (run) last.set(run.id, withName(run, line.name));
      continue;
    }
    const name = line.name ?? last.get(line.id)?.name ?? '';
    last.delete(line.id);
    last.set(line.id, withName(line, name));
  }
  return [...last.values()].slice(-mostRuns);
}

const withName = ({ id, profile }: KnownRun, name: string): KnownRun =>
  name === '' ? { id, profile } : { id, profile, name };
