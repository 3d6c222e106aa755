// Downloads what a run's program wrote: one file of the run's folder, or all below a folder there.
import { lstat, stat } from 'node:fs/promises';
import { join as joinHere } from 'node:path';
import * as z from 'zod/mini';
import type { AgentNode } from '../agent/agentNode.js';
import { systemCode, UserError } from '../base/errors.js';
import { makeFolder } from '../base/makeFolder.js';
import type { NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { check } from '../base/validation.js';
import type { RunFiles } from '../cluster/nodes/runFiles.js';
import { bringFiles } from './bring.js';
import type { Download } from './download.js';
import { PartialFolder, sha256Of, type Layout, type ManifestFile } from './partial.js';

/** What a download writes down, so that the next one knows what is there. */
const listSchema = z.object({
  kind: z.literal('files of a run'),
  files: z.array(z.object({ name: z.string(), bytes: z.int(), sha256: z.string() })),
});

/** UserError (usage) where two that go into one folder have the same name. */
export function assertOwnNames(all: readonly RunFiles[]): void {
  const twice = all.find(({ name }, index) => all.findIndex((other) => other.name === name) !== index);
  if (!twice) return;
  throw new UserError('usage', `two of them are called ${twice.name}`, 'Download them into two folders');
}

/**
 * Brings `found` into `folder` of this machine, as a file or folder of its own name. What a
 * download that was ended has brought stays beside it, in a folder whose name ends in `.partial`,
 * and is gone on with: files that have changed since come anew. UserError (usage, preflight,
 * connection, failed), Cancelled.
 */
export async function downloadFiles(
  node: Pick<AgentNode, 'client'>,
  found: RunFiles,
  folder: string,
  progress: Progress = {},
): Promise<Download> {
  const { name, isFolder, folder: from, files } = found;
  assertNames([name, ...files.map((file) => file.name)], process.platform === 'win32');
  const final = joinHere(folder, name);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (await isThere(final, found, progress)) return { path: final, bytes, kept: bytes };
  await makeFolder(folder);
  const partial = await PartialFolder.open(final, listOf(files), layoutOf(files));
  const kept = await bringFiles({ node, from, files, name, changed }, partial, folder, progress);
  if (await exists(final)) throw inTheWay(final);
  await partial.finish(isFolder ? '' : name);
  return { path: final, bytes, kept };
}

const listOf = (files: RunFiles['files']): string => {
  const list: z.infer<typeof listSchema> = { kind: 'files of a run', files };
  return JSON.stringify(list);
};

function layoutOf(files: readonly ManifestFile[]): Layout {
  return { inside: 'files', outdated: (before) => outdated(before, files), differs: tryLater };
}

function outdated(before: string, files: readonly ManifestFile[]): string[] | undefined {
  const checked = check(listSchema, parsed(before));
  if (!checked.ok || checked.data.files.some(({ name }) => isOdd(name, false))) return undefined;
  const old = checked.data.files;
  const folders = new Set(old.flatMap(({ name }) => foldersOf(name)));
  if (files.some(({ name }) => folders.has(name))) return ['']; // a file is where a folder was
  const now = new Set(files.map(keyOf));
  return old.filter((file) => !now.has(keyOf(file))).map(({ name }) => name);
}

/** Null for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** `a/b/c` lies in `a/b` and `a`. */
const foldersOf = (name: string): string[] =>
  name.split('/').flatMap((_, index, parts) => (index === 0 ? [] : [parts.slice(0, index).join('/')]));

const keyOf = ({ name, bytes, sha256 }: ManifestFile): string => JSON.stringify([name, bytes, sha256]);

const tryLater = 'Download it again once nothing writes to it: only what differs comes anew';

const changed = (path: NodePath, how: 'gone' | 'shorter', cause?: unknown): UserError =>
  new UserError('failed', `${path} ${how === 'gone' ? 'is gone' : 'was cut short'} meanwhile`, tryLater, {
    cause,
  });

/**
 * Names that lead nowhere else, and that this machine can have. UserError (failed) for the first
 * other one.
 */
export function assertNames(names: readonly string[], ofWindows: boolean): void {
  const odd = names.find((name) => isOdd(name, ofWindows));
  if (odd === undefined) return;
  const what = `${JSON.stringify(odd)} cannot be the name of a file on this machine`;
  throw new UserError('failed', what, 'Rename it on the node, or name the other files alone');
}

const isOdd = (name: string, ofWindows: boolean): boolean =>
  name.includes('\0') ||
  name.split('/').some((part) => ['', '.', '..'].includes(part) || (ofWindows && isOddOnWindows(part)));

const isOddOnWindows = (part: string): boolean =>
  // eslint-disable-next-line no-control-regex -- Windows refuses these
  /[<>:"\\|?*\u0000-\u001f]|[. ]$/.test(part) || /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(part);

/** Whether the very same files have the name. UserError (usage) where something else has. */
async function isThere(final: string, found: RunFiles, { signal, onProgress }: Progress): Promise<boolean> {
  if (!(await exists(final))) return false;
  onProgress?.(`${found.name}: comparing SHA-256 with what is there`);
  for (const { name, bytes, sha256 } of found.files) {
    const path = found.isFolder ? joinHere(final, name) : final;
    if ((await plainSize(path)) === bytes && (await sha256Of(path, signal)) === sha256) continue;
    throw inTheWay(final);
  }
  return true;
}

const inTheWay = (final: string): UserError =>
  new UserError(
    'usage',
    `${final} is there already, and is not what the run has now`,
    'Choose another folder, or move it away',
  );

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

/** Undefined where there is no plain file. */
async function plainSize(path: string): Promise<number | undefined> {
  try {
    const info = await stat(path);
    return info.isFile() ? info.size : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}
