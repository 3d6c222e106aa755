// The packages of a pylock.toml (PEP 751), as lines of pip with their hashes.
import { posix } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../base/errors.js';
import { assertUnderstood, type Fits } from './fits.js';
import { indexLines, refused } from './locked.js';
import { decided, markerText, parseMarker, type Chosen } from './markers.js';
import { mostLockBytes, textOf } from './text.js';
import { readToml } from './toml.js';

const text = z.string();
const fileSchema = z.object({
  url: z.optional(text),
  path: z.optional(text),
  hashes: z.optional(z.record(text, text)),
});
const packageSchema = z.object({
  name: text.check(z.regex(/^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/)),
  version: z.optional(text.check(z.regex(/^[\w.!+-]+$/))),
  marker: z.optional(text),
  index: z.optional(text),
  vcs: z.optional(z.unknown()),
  directory: z.optional(z.object({ path: text })),
  archive: z.optional(z.extend(fileSchema, { subdirectory: z.optional(text) })),
  sdist: z.optional(fileSchema),
  wheels: z.optional(z.array(fileSchema)),
});
const lockSchema = z.object({
  'lock-version': text,
  environments: z.optional(z.array(text)),
  'requires-python': z.optional(text),
  'default-groups': z.optional(z.array(text)),
  packages: z.array(packageSchema),
});
const versionSchema = z.object({ 'lock-version': text });

type LockFile = z.output<typeof fileSchema>;
type Package = z.output<typeof packageSchema>;

/** Those that pip compares, and how long they are. */
const hashes: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** UserError (usage) for a lock of another version, and for packages that no node could get. */
export async function lockLines(file: string): Promise<{ lines: string[]; fits: Fits }> {
  const content = await textOf(file, mostLockBytes);
  const { 'lock-version': version } = readToml(content, versionSchema, file);
  if (!/^1\.\d+$/.test(version)) {
    const what = `${file} is a lock of version ${version}, and version 1 is known`;
    throw new UserError('usage', what, 'Name a requirements file instead');
  }
  const lock = readToml(content, lockSchema, file);
  const chosen = { extras: [], dependency_groups: lock['default-groups'] ?? [] };
  const found = lock.packages.flatMap((one) => {
    const condition = conditionOf(one, chosen, file);
    return condition === undefined || isProject(one) ? [] : [{ one, condition }];
  });
  const lines = found.map(({ one, condition }) => lineOf(one, condition, file));
  const indexes = found.flatMap(({ one }) => one.index ?? []);
  const fits = { python: lock['requires-python'], environments: lock.environments };
  assertUnderstood(fits, file);
  return { lines: [...indexLines(indexes, file), ...lines], fits };
}

/** Of a package for pip; undefined where the package is of extras or groups that nobody asked for. */
function conditionOf({ name, marker }: Package, chosen: Chosen, file: string): string | undefined {
  if (marker === undefined) return '';
  const parsed = parseMarker(marker);
  const left = parsed && decided(parsed, chosen);
  if (left === undefined) {
    throw refused(file, `the marker of ${name} is not understood`, 'Make the file anew');
  }
  if (left === false) return undefined;
  return left === true ? '' : ` ; ${markerText(left)}`;
}

/** The project whose lock it is: its code goes along with a run, as any code does. */
const isProject = ({ directory }: Package): boolean =>
  directory !== undefined && posix.normalize(directory.path).replace(/\/$/, '') === '.';

function lineOf(one: Package, condition: string, file: string): string {
  const { name, version, directory, archive, sdist, wheels = [] } = one;
  if (one.vcs !== undefined) {
    throw refused(file, `${name} comes from a repository, of which pip compares no hash`);
  }
  if (directory) {
    const hint = 'Make the file without it, and let its code go along with the run';
    throw refused(file, `${name} is a folder of this machine`, hint);
  }
  if (archive) {
    return `${name} @ ${addressOf(archive, name, file)}${condition}${hashesOf([archive], name, file)}`;
  }
  const files = [...(sdist ? [sdist] : []), ...wheels];
  if (version === undefined || files.length === 0) {
    throw refused(file, `${name} has no version, or no files`, 'Make the file anew');
  }
  if (files.some(({ url, path }) => path !== undefined || (url !== undefined && !/^https?:/.test(url)))) {
    throw refused(file, `${name} comes from a folder of this machine`);
  }
  return `${name}==${version}${condition}${hashesOf(files, name, file)}`;
}

function addressOf(archive: NonNullable<Package['archive']>, name: string, file: string): string {
  const { url = '', subdirectory } = archive;
  if (!/^https?:\/\/[^\s"'\\#$]+$/.test(url)) {
    throw refused(file, `${name} comes from no address that the nodes could follow`);
  }
  if (subdirectory === undefined) return url;
  if (!/^[\w./-]+$/.test(subdirectory) || subdirectory.includes('..')) {
    throw refused(file, `${name} is in no folder of its archive`, 'Make the file anew');
  }
  return `${url}#subdirectory=${subdirectory}`;
}

/** One of each file is enough. */
function hashesOf(files: readonly LockFile[], name: string, file: string): string {
  const found = files.map(({ hashes: given = {} }) => {
    const [algorithm, length] = Object.entries(hashes).find(([known]) => given[known] !== undefined) ?? [];
    const value = (algorithm === undefined ? undefined : given[algorithm])?.toLowerCase() ?? '';
    if (algorithm === undefined || length !== value.length || !/^[0-9a-f]+$/.test(value)) {
      throw refused(file, `${name} has a file without a hash that pip compares`);
    }
    return ` --hash=${algorithm}:${value}`;
  });
  return [...new Set(found)].join('');
}
