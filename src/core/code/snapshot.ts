// A snapshot of a code folder: which files, with which content, as they are now.
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { errorText, throwIfCancelled, UserError } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import type { CodeRecord } from '../contracts/runSchema.js';
import { HashCache } from './hashCache.js';
import { KeptBytes } from './keptBytes.js';
import { git, listCode, listNested, type Listing } from './listing.js';
import { isSecret, ownIgnoreFile } from './rules.js';

/** Bytes that a file may have, and all of them together; and how many files there may be. */
const limits = { file: 100e6, folder: 1e9, files: 100_000 } as const;

/** Bytes of the difference to the commit that are recorded. */
const mostDiff = 256 << 10;
/** Milliseconds of work after which others have their turn. */
const turn = 20;
/** Names in one line for the user. */
const mostNamed = 5;

/** One file of a snapshot, as the manifest has it: path, 1 for a program, size, SHA-256. */
type FileEntry = [path: string, executable: 0 | 1, size: number, hash: string];

/** A blob that a node may lack. */
export interface Blob {
  path: string;
  size: number;
  hash: string;
}

/** What goes along with a run. Made by `takeSnapshot`. */
export interface CodeSnapshot {
  /** For the run's record. */
  record: CodeRecord;
  /** The manifest's bytes; their SHA-256 is `record.snapshot`. */
  manifest: Buffer;
  /** As the manifest numbers them. */
  blobs: readonly Blob[];
  /** What was not committed, cut where it is long; undefined outside of a repository. */
  diff: string | undefined;
  /** Paths of all files and links. */
  paths: ReadonlySet<string>;
  /** Lines for the user: what was left out. */
  notes: readonly string[];
  /** The bytes of a blob as they were. UserError (usage) where the file has changed since. */
  read: (blob: Blob) => Buffer;
}

/** `cache`: a folder for hashes of files that have not changed since the last time. */
export interface SnapshotOptions extends Progress {
  cache: string;
}

/**
 * The one entry: what of `folder` goes along with a run, read now. UserError (usage) for a folder
 * that cannot be sent, Cancelled.
 */
export async function takeSnapshot(
  folder: string,
  { cache, signal, onProgress }: SnapshotOptions,
): Promise<CodeSnapshot> {
  const root = rootOf(folder);
  onProgress?.('looking at the code folder');
  const [listing, commit] = await Promise.all([listed(root), git(root, ['rev-parse', 'HEAD'])]);
  const hashes = await HashCache.open(cache, root);
  const reader = new Reader(root, hashes, signal);
  const compared = commit && differenceOf(root, listing); // git does so meanwhile
  await reader.readAll(listing.paths);
  const { files, links, bytes } = reader;
  if (files.length === 0) {
    throw new UserError(
      'usage',
      `there is no file to send in ${folder}`,
      `Look at its .gitignore and ${ownIgnoreFile}`,
    );
  }
  await hashes.save();
  const manifest = Buffer.from(JSON.stringify({ version: 1, files, links }));
  const difference = await compared;
  const notes = [...(listing.secrets.length > 0 ? [secretNote(listing.secrets)] : []), ...reader.notes()];
  return {
    record: {
      snapshot: createHash('sha256').update(manifest).digest('hex'),
      folder: root,
      files: files.length,
      bytes,
      commit: commit?.toString().trim() ?? null,
      changed: difference === undefined ? null : difference !== '',
    },
    manifest,
    blobs: [...new Map(files.map((file) => [`${file[3]}${file[1]}`, blobOf(file)])).values()],
    diff: difference === '' ? undefined : difference,
    paths: new Set([...files, ...links].map(([path]) => path)),
    notes,
    read: (blob) => reader.bytesOf(blob),
  };
}

const blobOf = ([path, , size, hash]: FileEntry): Blob => ({ path, size, hash });

function rootOf(folder: string): string {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) throw new UserError('usage', `there is no folder ${folder}`, 'Name the folder of the code');
  if (!stats.isDirectory()) {
    throw new UserError('usage', `${folder} is no folder`, 'Name the folder of the code');
  }
  return realpathSync(folder);
}

async function listed(root: string): Promise<Listing> {
  try {
    return await listCode(root);
  } catch (error) {
    throw unreadable(root, error);
  }
}

const unreadable = (path: string, error: unknown): UserError =>
  new UserError(
    'usage',
    `${path} cannot be read: ${errorText(error)}`,
    `Make it readable, or name it in ${ownIgnoreFile}`,
    { cause: error },
  );

/**
 * Without the files that are left out for their secrets, also those that git had and has no more:
 * the difference would have all their lines.
 */
async function differenceOf(root: string, { paths, secrets }: Listing): Promise<string | undefined> {
  const plain = ['--no-ext-diff', '--no-textconv', '--no-color', '--relative'];
  const names = await git(root, ['diff', 'HEAD', '--name-only', '-z', '--no-renames', '--relative']);
  if (names === undefined) return undefined;
  const sent = new Set(paths);
  const gone = names
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '' && isSecret(path) && !sent.has(path));
  const without = [...new Set([...secrets, ...gone])].map((path) => `:(exclude,literal)${path}`);
  const output = await git(root, ['diff', 'HEAD', ...plain, '--', '.', ...without]);
  if (output === undefined) return undefined;
  if (output.length <= mostDiff) return output.toString('utf8');
  return `${output.toString('utf8', 0, mostDiff)}\n… and ${output.length - mostDiff} bytes more\n`;
}

const named = (paths: readonly string[]): string =>
  paths.slice(0, mostNamed).join(', ') +
  (paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : '');

const secretNote = (paths: readonly string[]): string =>
  `not sent, since such files usually hold secrets: ${named(paths)} (a line !NAME in ${ownIgnoreFile} sends one all the same)`;

/** Reads what has changed, and keeps it as long as there is room. */
class Reader {
  readonly files: FileEntry[] = [];
  readonly links: [path: string, target: string][] = [];
  bytes = 0;
  private readonly kept = new KeptBytes();
  private readonly outside: string[] = [];
  private readonly special: string[] = [];

  constructor(
    private readonly root: string,
    private readonly hashes: HashCache,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async readAll(paths: readonly string[]): Promise<void> {
    let since = Date.now();
    for (const path of paths) {
      const nested = this.readOne(path);
      if (nested) await this.readAll(await listNested(this.root, path));
      if (Date.now() - since < turn) continue;
      await new Promise((resolve) => setImmediate(resolve));
      throwIfCancelled(this.signal);
      since = Date.now();
    }
  }

  notes(): string[] {
    return [
      ...(this.outside.length > 0
        ? [`not sent, since these links lead out of the folder: ${named(this.outside)}`]
        : []),
      ...(this.special.length > 0
        ? [`not sent, since these are no files, or their names are no text: ${named(this.special)}`]
        : []),
    ];
  }

  bytesOf({ path, size, hash }: Blob): Buffer {
    const kept = this.kept.get(hash);
    if (kept) return kept;
    const bytes = this.readable(path, (full) => readFileSync(full));
    if (bytes.length === size && hashOf(bytes) === hash) return bytes;
    throw new UserError('usage', `${path} changed while it was sent`, 'Try again once nothing writes to it');
  }

  /** True for a repository of its own. */
  private readOne(path: string): boolean {
    const full = this.root + sep + path;
    const stats = lstatSync(full, { throwIfNoEntry: false });
    if (!stats) {
      // Deleted, but still in git's list; or a name that is no text.
      if (path.includes('\uFFFD')) this.special.push(path);
      return false;
    }
    if (stats.isDirectory()) return true;
    if (stats.isSymbolicLink()) this.addLink(path, full);
    else if (stats.isFile()) this.addFile(path, stats);
    else this.special.push(path);
    return false;
  }

  private addLink(path: string, full: string): void {
    const target = readlinkSync(full);
    const lexical = resolve(dirname(full), target);
    const places = [lexical, realpathOf(lexical)].filter((place) => place !== undefined);
    if (!places.every((place) => isInside(this.root, place))) this.outside.push(path);
    else {
      const own = isAbsolute(target) ? relative(dirname(full), lexical) : target;
      this.links.push([path, own.replaceAll(sep, '/')]);
    }
  }

  private addFile(path: string, stats: Stats): void {
    const remedy = `Put data on the nodes instead, or name it in ${ownIgnoreFile}`;
    if (stats.size > limits.file) {
      const what = `${path} has ${megabytes(stats.size)}, more than the ${megabytes(limits.file)} that a file of the code may have`;
      throw new UserError('usage', what, remedy);
    }
    this.bytes += stats.size;
    if (this.bytes > limits.folder) {
      const what = `the code folder has more than ${megabytes(limits.folder)}`;
      throw new UserError('usage', what, remedy);
    }
    if (this.files.length >= limits.files) {
      const what = `the code folder has more than ${limits.files} files`;
      throw new UserError('usage', what, remedy);
    }
    const hash = this.hashes.get(path, stats) ?? this.hashNow(path, stats);
    // Windows has no such bit.
    const executable = process.platform !== 'win32' && (stats.mode & 0o100) !== 0 ? 1 : 0;
    this.files.push([path, executable, stats.size, hash]);
  }

  private hashNow(path: string, stats: Stats): string {
    const bytes = this.readable(path, (full) => this.kept.read(full, stats.size));
    if (bytes.length !== stats.size) {
      throw new UserError(
        'usage',
        `${path} changed while it was read`,
        'Try again once nothing writes to it',
      );
    }
    const hash = hashOf(bytes);
    this.hashes.set(path, stats, hash);
    this.kept.keep(hash, bytes);
    return hash;
  }

  private readable(path: string, read: (full: string) => Buffer): Buffer {
    try {
      return read(this.root + sep + path);
    } catch (error) {
      throw unreadable(path, error);
    }
  }
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Undefined where it leads nowhere. */
function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
