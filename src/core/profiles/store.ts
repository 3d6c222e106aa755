// profiles.json: read with every problem named by line and field, changed without touching what it
// does not change.
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { applyEdits, modify, getNodeValue, type Node } from 'jsonc-parser';
import { errorText, systemCode, UserError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files.js';
import { lineOfProblem, parseLocated } from '../base/locatedJson.js';
import { check, problemsText, type Problem } from '../base/validation.js';
import { localProfile, profilesFileSchema, type Profile } from '../contracts/profileSchema.js';

const emptyFile = '{\n  "version": 1,\n  "profiles": []\n}\n';
const format = { formattingOptions: { tabSize: 2, insertSpaces: true, eol: '\n' } };

/** `$TRAINYARD_HOME`, else `~/.config/trainyard`; on Windows `%APPDATA%\trainyard`. */
export function trainyardHome(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  const home = env['TRAINYARD_HOME'];
  if (home !== undefined && home !== '') return home;
  if (platform !== 'win32') return join(homedir(), '.config', 'trainyard');
  return join(env['APPDATA'] ?? join(homedir(), 'AppData', 'Roaming'), 'trainyard');
}

/** An entry of the file that is no profile, and why. */
export interface BrokenProfile {
  name: string;
  error: UserError;
}

/**
 * The profiles of one home folder. Comments and trailing commas in the file are accepted and kept.
 */
export class ProfileStore {
  readonly path: string;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(home: string = trainyardHome()) {
    this.path = join(home, 'profiles.json');
  }

  /**
   * All profiles, `local` first, and the entries that are none: one mistake does not take the
   * others away. UserError (usage) when the file cannot be understood.
   */
  async contents(): Promise<{ profiles: Profile[]; broken: BrokenProfile[] }> {
    const { profiles, broken } = this.sort((await this.read()) ?? emptyFile);
    const own = profiles.find(({ name }) => name === localProfile.name);
    const local = { ...localProfile, ...own };
    return { profiles: [local, ...profiles.filter(({ name }) => name !== localProfile.name)], broken };
  }

  /**
   * All profiles that are right, `local` first. UserError (usage) when the file cannot be
   * understood.
   */
  async list(): Promise<Profile[]> {
    return (await this.contents()).profiles;
  }

  /**
   * UserError (usage): what is wrong with its entry, or the profiles there are when `name` is none
   * of them.
   */
  async get(name: string): Promise<Profile> {
    const { profiles, broken } = await this.contents();
    throwIfBroken(name, broken);
    const found = profiles.find((profile) => profile.name === name);
    return (
      found ??
      noSuchProfile(
        name,
        profiles.map((profile) => profile.name),
      )
    );
  }

  /**
   * Adds the profile, or replaces the one of its name. Refuses to write to a file it cannot read.
   */
  save(profile: Profile): Promise<void> {
    return this.edit((text, profiles) => [withProfile(text, profiles, profile), undefined]);
  }

  /**
   * Changes the profile of this name as the file has it then, which others may have written since it
   * was read. Returns what it is now. UserError (usage) where there is none, and what `update`
   * throws.
   */
  change(name: string, update: (current: Profile) => Profile): Promise<Profile> {
    return this.edit((text, profiles) => {
      const found = profiles.find((profile) => profile.name === name);
      const known = name === localProfile.name ? { ...localProfile, ...found } : found;
      const names = [localProfile, ...profiles].map((profile) => profile.name);
      const now = update(known ?? noSuchProfile(name, [...new Set(names)]));
      return [withProfile(text, profiles, now), now];
    });
  }

  /** Removes a profile; one that is not in the file is left at that. */
  remove(name: string): Promise<void> {
    return this.edit((text, profiles) => {
      const index = profiles.findIndex((profile) => profile.name === name);
      const edits = index < 0 ? [] : modify(text, ['profiles', index], undefined, format);
      return [applyEdits(text, edits), undefined];
    });
  }

  /** Makes an empty file where there is none, and returns its path. */
  async ensureFile(): Promise<string> {
    if ((await this.read()) === undefined) await this.write(emptyFile);
    return this.path;
  }

  /** Changes of this process follow one another; each starts from what the file says then. */
  private edit<T>(edit: (text: string, profiles: Profile[]) => [text: string, result: T]): Promise<T> {
    const work = this.queue.then(async () => {
      const text = (await this.read()) ?? emptyFile;
      const [changed, result] = edit(text, this.parse(text).profiles);
      this.parse(changed);
      if (changed !== text) await this.write(changed);
      return result;
    });
    this.queue = work.catch(() => undefined);
    return work;
  }

  private async read(): Promise<string | undefined> {
    try {
      const text = await readFile(this.path, 'utf8');
      return text.replace(/^\uFEFF/, '');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw new UserError(
        'usage',
        `${this.path} cannot be read: ${errorText(error)}`,
        'Check its permissions',
        {
          cause: error,
        },
      );
    }
  }

  private async write(text: string): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const target = await realpath(this.path).catch(() => this.path); // a link to a dotfiles folder stays a link
    await writeFileAtomic(target, text);
  }

  /** Every entry right, or UserError. */
  private parse(text: string): { profiles: Profile[] } {
    const { profiles, broken } = this.sort(text);
    const [first] = broken;
    if (first) throw first.error;
    return { profiles };
  }

  private sort(text: string): { profiles: Profile[]; broken: BrokenProfile[] } {
    const tree = this.treeOf(text);
    const value = withLocalKind(getNodeValue(tree));
    const whole = check(profilesFileSchema, value);
    if (whole.ok) return { profiles: whole.data.profiles, broken: [] };
    const entries = entriesOf(value);
    const bad = new Map<number, Problem[]>();
    const ofFile: Problem[] = [];
    for (const problem of whole.problems) {
      const [list, index] = problem.path;
      if (list === 'profiles' && typeof index === 'number') {
        bad.set(index, [...(bad.get(index) ?? []), problem]);
      } else ofFile.push(problem);
    }
    const rest = entries.filter((_, index) => !bad.has(index));
    const others = check(profilesFileSchema, { version: 1, profiles: rest });
    if (ofFile.length > 0 || !others.ok) {
      throw this.error(text, tree, ofFile.length > 0 ? ofFile : whole.problems);
    }
    const broken = [...bad].map(([index, problems]) => ({
      name: nameOf(entries[index]),
      error: this.error(text, tree, problems),
    }));
    return { profiles: others.data.profiles, broken };
  }

  private treeOf(text: string): Node {
    return parseLocated(text, (line, what) => this.problem(line, what));
  }

  /** At the place of the first. */
  private error(text: string, tree: Node, problems: readonly Problem[]): UserError {
    const [first = { path: [], message: 'invalid' }] = problems;
    return this.problem(lineOfProblem(text, tree, first), problemsText(problems));
  }

  private problem(line: number, what: string): UserError {
    return new UserError('usage', `${this.path}:${line}: ${what}`, { kind: 'correctProfiles', line });
  }
}

/** The text with this profile, in the place of the one of its name. */
function withProfile(text: string, profiles: readonly Profile[], profile: Profile): string {
  const index = profiles.findIndex(({ name }) => name === profile.name);
  const edits = modify(text, ['profiles', index], profile, { ...format, isArrayInsertion: index < 0 });
  return applyEdits(text, edits);
}

/** Throws UserError (usage) that names those there are. */
export function noSuchProfile(name: string, names: readonly string[]): never {
  throw new UserError('usage', `there is no profile named ${name}`, { kind: 'chooseProfile', names });
}

/** Throws what is wrong with the entry of that name, where there is one. */
export function throwIfBroken(name: string, broken: readonly BrokenProfile[]): void {
  const found = broken.find((each) => each.name === name);
  if (found) throw found.error;
}

function entriesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null && 'profiles' in value && Array.isArray(value.profiles)
    ? value.profiles
    : [];
}

function nameOf(entry: unknown): string {
  return typeof entry === 'object' && entry !== null && 'name' in entry && typeof entry.name === 'string'
    ? entry.name
    : '';
}

/** An entry named `local` only overrides fields, so it need not repeat its kind. */
function withLocalKind(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('profiles' in value)) return value;
  if (!Array.isArray(value.profiles)) return value;
  const profiles = value.profiles.map((entry: unknown): unknown => {
    const isLocal = typeof entry === 'object' && entry !== null && 'name' in entry && entry.name === 'local';
    return isLocal ? { kind: 'local', ...entry } : entry;
  });
  return { ...value, profiles };
}
