// The bytes of files of a node, into a folder of this machine: on from where they are, over as many
// connections as it takes.
import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentError, type AgentClient } from '../agent/agentClient.js';
import type { AgentNode } from '../agent/agentNode.js';
import { pieceBytes } from '../agent/remoteFile.js';
import { throwIfCancelled, UserError } from '../base/errors.js';
import { join, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { agentErrors } from '../contracts/agentApi.js';
import type { ManifestFile, PartialFolder } from './partial.js';

/** Requests that are under way at once: a long way to the node then costs little. */
const window = 8;
/** Milliseconds between two reports of progress. */
const reportEvery = 500;
/** What stays free on this machine's disk. */
const reserve = 64 * 1024 * 1024;
/** Lost connections in a row, without a byte between them, after which it is given up. */
const mostLosses = 5;

/** Files that are brought. */
export interface Wanted {
  node: Pick<AgentNode, 'client'>;
  /** The folder of the node that has them. */
  from: NodePath;
  files: readonly ManifestFile[];
  /** What the whole is called while it comes. */
  name: string;
  /** What is said of a file that is no longer there, or is shorter than it was. */
  changed: (path: NodePath, how: 'gone' | 'shorter', cause?: unknown) => UserError;
}

/**
 * Brings the files into `partial`, which is in `folder`, and compares their SHA-256. Returns how
 * many bytes were there before. UserError (preflight, connection, failed), Cancelled.
 */
export async function bringFiles(
  wanted: Wanted,
  partial: PartialFolder,
  folder: string,
  progress: Progress,
): Promise<number> {
  const { files, name } = wanted;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let kept = 0;
  for (const file of files) kept += await partial.received(file);
  await assertSpace(folder, bytes - kept);
  let done = kept;
  let reported = 0;
  const report = (more: number): void => {
    done += more;
    if (Date.now() - reported < reportEvery && done < bytes) return;
    reported = Date.now();
    progress.onProgress?.(`${name}: ${megabytes(done)} of ${megabytes(bytes)} MB`);
  };
  report(0);
  for (const file of files) await bring(wanted, file, partial, { ...progress, report });
  progress.onProgress?.(`${name}: comparing SHA-256`);
  await partial.verify(files, progress.signal);
  throwIfCancelled(progress.signal);
  return kept;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

interface Reporting {
  signal?: AbortSignal;
  report: (more: number) => void;
}

async function bring(
  { node, from, changed }: Wanted,
  file: ManifestFile,
  partial: PartialFolder,
  reporting: Reporting,
): Promise<void> {
  for (let losses = 0; ;) {
    const start = await partial.received(file);
    if (start === file.bytes && file.bytes > 0) return;
    const path = join(from, file.name);
    try {
      const client = await node.client();
      const shorter = (): UserError => changed(path, 'shorter');
      await partial.append(
        file.name,
        start,
        chunksOf(client, { path, start, end: file.bytes, shorter }, reporting),
      );
      return;
    } catch (error) {
      if (isGone(error)) throw changed(path, 'gone', error);
      if (!(error instanceof UserError) || error.code !== 'connection') throw error;
      losses = (await partial.received(file)) > start ? 1 : losses + 1;
      if (losses >= mostLosses) throw error;
      await delay(200 * 2 ** losses, undefined, reporting.signal ? { signal: reporting.signal } : {}).catch(
        () => {
          throwIfCancelled(reporting.signal);
        },
      );
    }
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof AgentError && error.code === agentErrors.notFound;

interface Part {
  path: NodePath;
  start: number;
  end: number;
  shorter: () => UserError;
}

/** The file's bytes from `start` to `end`, several requests ahead. */
async function* chunksOf(
  client: AgentClient,
  { path, start, end, shorter }: Part,
  { signal, report }: Reporting,
): AsyncGenerator<Buffer> {
  const options = signal ? { signal } : {};
  const waiting: Promise<{ data: string }>[] = [];
  let asked = start;
  const ask = (): void => {
    if (asked >= end) return;
    const length = Math.min(pieceBytes, end - asked);
    const answer = client.request('file.read', { path, offset: asked, length }, options);
    answer.catch(() => undefined); // the first failure is thrown below; requests behind it are given up
    waiting.push(answer);
    asked += length;
  };
  for (let at = start; at < end;) {
    throwIfCancelled(signal);
    while (waiting.length < window && asked < end) ask();
    const answer = await waiting.shift();
    const chunk = Buffer.from(answer?.data ?? '', 'base64');
    if (chunk.length !== Math.min(pieceBytes, end - at)) throw shorter();
    at += chunk.length;
    yield chunk;
    report(chunk.length);
  }
}

/** UserError (preflight) where the disk has not enough. */
async function assertSpace(folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (needed + reserve <= free) return;
  const what = `the download needs ${megabytes(needed)} MB (and leaves 64 MB free), and ${folder} has ${megabytes(free)} MB`;
  throw new UserError('preflight', what, 'Free some space, or choose a folder on another disk');
}
