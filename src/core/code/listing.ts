// The files of a code folder that go along: git's own list where git is there, else by the rules of
// its .gitignore files.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { systemCode } from '../base/errors.js';
import { isSecret, ownIgnoreFile, Rules } from './rules.js';

/** Paths below the folder, with `/`. */
export interface Listing {
  /** Sorted. What is there may be a link, or something else than a file. */
  paths: string[];
  /** Left out, since files of such names usually hold secrets. */
  secrets: string[];
  /** Whether git made the list. */
  byGit: boolean;
}

const mostOutput = 64 << 20;

/** What git prints; undefined where there is no git, it says no, or it prints too much. */
export function git(folder: string, args: readonly string[], most = mostOutput): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    // A program that the folder's own settings name is not started.
    const words = ['-c', 'core.fsmonitor=false', ...args];
    const child = spawn('git', words, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    const parts: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > most) child.kill();
      else parts.push(part);
    });
    child.on('error', () => {
      resolve(undefined);
    });
    child.on('close', (code) => {
      resolve(code === 0 ? Buffer.concat(parts) : undefined);
    });
  });
}

/** Everything below `folder` that goes along. Rejects with the error of the file system. */
export async function listCode(folder: string): Promise<Listing> {
  const own = new OwnRules(folder);
  const byGit = await listedByGit(folder, '');
  const found = byGit ?? walked(folder, own);
  const paths: string[] = [];
  const secrets: string[] = [];
  for (const path of [...new Set(found)].sort()) {
    if (!own.leavesOut(path)) paths.push(path);
    else if (isSecret(path)) secrets.push(path);
  }
  return { paths, secrets, byGit: byGit !== undefined };
}

/**
 * The same of a repository inside of `folder`, which git's list names as one path. Nothing where
 * that is a submodule that was never fetched.
 */
export async function listNested(folder: string, path: string): Promise<string[]> {
  const prefix = (await git(join(folder, path), ['rev-parse', '--show-prefix']))?.toString().trim();
  if (prefix !== '') return [];
  const own = new OwnRules(folder);
  return ((await listedByGit(folder, `${path}/`)) ?? []).filter((name) => !own.leavesOut(name));
}

/** Tracked and untracked, without what is ignored. */
async function listedByGit(root: string, below: string): Promise<string[] | undefined> {
  const output = await git(join(root, below), ['ls-files', '-co', '--exclude-standard', '-z']);
  if (output === undefined) return undefined;
  const names = output
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '');
  return names.map((name) => below + name.replace(/\/$/, ''));
}

/** The rules of .trainyardignore, over those of ours. */
class OwnRules {
  private readonly byFolder = new Map<string, Rules>();
  private readonly judged = new Map<string, boolean>();

  constructor(private readonly root: string) {}

  /** Whether the path, or a folder above it, is left out. */
  leavesOut(path: string): boolean {
    const known = this.judged.get(path);
    if (known !== undefined) return known;
    const at = path.replace(/\/$/, '').lastIndexOf('/');
    const above = path.slice(0, at + 1);
    const left = (above !== '' && this.leavesOut(above)) || this.rulesOf(above).verdict(path) === 'ignored';
    this.judged.set(path, left);
    return left;
  }

  private rulesOf(folder: string): Rules {
    const known = this.byFolder.get(folder);
    if (known) return known;
    const at = folder.slice(0, -1).lastIndexOf('/');
    const above = folder === '' ? Rules.usual() : this.rulesOf(folder.slice(0, at + 1));
    const rules = extended(above, this.root, folder, ownIgnoreFile);
    this.byFolder.set(folder, rules);
    return rules;
  }
}

function extended(rules: Rules, root: string, folder: string, file: string): Rules {
  const text = readIfThere(join(root, folder, file));
  return text === undefined ? rules : rules.with(folder, text);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** The same as git's list, where there is no git. */
function walked(root: string, own: OwnRules): string[] {
  const found: string[] = [];
  const walk = (folder: string, rules: Rules): void => {
    const here = extended(rules, root, folder, '.gitignore');
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder + entry.name;
      const shown = entry.isDirectory() ? `${path}/` : path;
      // A secret is listed all the same: it is named to the user.
      if (here.verdict(shown) === 'ignored') continue;
      if (!entry.isDirectory()) found.push(path);
      else if (!own.leavesOut(shown)) walk(shown, here);
    }
  };
  walk('', rulesAbove(root));
  return found;
}

/** Of the repository that the folder is in: .git/info/exclude, and .gitignore files above it. */
function rulesAbove(root: string): Rules {
  let top = root;
  while (statSync(join(top, '.git'), { throwIfNoEntry: false }) === undefined) {
    if (dirname(top) === top) return Rules.none();
    top = dirname(top);
  }
  const inside = relative(top, root)
    .split(sep)
    .filter((name) => name !== '');
  let rules = Rules.none();
  for (const [file, depth] of [
    ['.git/info/exclude', 0] as const,
    ...inside.map((_, index) => ['.gitignore', index] as const),
  ]) {
    const text = readIfThere(join(top, ...inside.slice(0, depth), file));
    if (text !== undefined) rules = rules.with('', seenFrom(text, inside.slice(depth)));
  }
  return rules;
}

/** Rules of a folder above, as the folder `below` it must write them: those of a path lose its head. */
function seenFrom(text: string, below: readonly string[]): string {
  if (below.length === 0) return text;
  const head = `${below.join('/')}/`;
  return text
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, not = '', rule = ''] = /^(!?)(.*)$/.exec(line) ?? [];
      if (rule === '' || rule.startsWith('#') || !rule.replace(/\/$/, '').includes('/')) return [line];
      const plain = rule.replace(/^\//, '');
      if (plain.startsWith('**/')) return [line];
      return plain.startsWith(head) ? [`${not}/${plain.slice(head.length)}`] : [];
    })
    .join('\n');
}
