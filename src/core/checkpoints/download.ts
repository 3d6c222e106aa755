// Downloads a checkpoint. It goes on after a lost connection, and gets its name once it is whole.
import { stat, statfs } from 'node:fs/promises';
import { join as joinHere } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentError, type AgentClient } from '../agent/agentClient.js';
import type { AgentNode } from '../agent/agentNode.js';
import { pieceBytes, readRemote } from '../agent/remoteFile.js';
import { systemCode, throwIfCancelled, UserError } from '../base/errors.js';
import { makeFolder } from '../base/makeFolder.js';
import { basename, join, type NodePath } from '../base/nodePath.js';
import type { Progress } from '../base/progress.js';
import { agentErrors } from '../contracts/agentApi.js';
import { shortName } from '../model/runName.js';
import {
  manifestName,
  PartialFolder,
  readManifest,
  textOf,
  type Manifest,
  type ManifestFile,
} from './partial.js';

/** Requests that are under way at once: a long way to the node then costs little. */
const window = 8;
/** A manifest is a few hundred bytes. */
const mostManifest = 1 << 20;
/** Milliseconds between two words on how far it is. */
const tellEvery = 500;
/** What stays free on this machine's disk. */
const reserve = 64 * 1024 * 1024;
/** Lost connections in a row, without a byte between them, after which it is given up. */
const mostLosses = 5;

/** What a download brought. */
export interface Download {
  /** The checkpoint's folder on this machine. */
  path: string;
  /** Of all its files. */
  bytes: number;
  /** Of these, what an earlier download had brought; all of them where the checkpoint was there. */
  kept: number;
}

/** `resnet20-1f2e-step-00000040`: checkpoints of two runs go into one folder under such names. */
export const folderName = (run: string, checkpoint: NodePath): string =>
  `${shortName(run).replace(/[^\w.-]+/g, '-')}-${basename(checkpoint)}`;

/**
 * Brings the checkpoint in `from`, a folder of the node, into `folder` of this machine, under the
 * name that it has there or `name`. What a download that was ended has brought stays beside it, in
 * a folder whose name ends in `.partial`, and is gone on with. Every file's SHA-256 is compared
 * with the manifest before the folder gets its name. UserError (usage, preflight, connection,
 * failed), Cancelled.
 */
export async function downloadCheckpoint(
  node: Pick<AgentNode, 'client'>,
  from: NodePath,
  folder: string,
  { name = basename(from), ...progress }: Progress & { name?: string } = {},
): Promise<Download> {
  const final = joinHere(folder, name);
  const text = (await wholeFile(node, join(from, manifestName))).toString('utf8');
  const manifest = readManifest(text, join(from, manifestName));
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  if (await isThere(final, text)) return { path: final, bytes, kept: bytes };
  await makeFolder(folder);
  const partial = await PartialFolder.open(final, text);
  const kept = await keptBytes(partial, manifest);
  await demandRoom(folder, bytes - kept);
  let done = kept;
  let told = 0;
  const tell = (more: number): void => {
    done += more;
    if (Date.now() - told < tellEvery && done < bytes) return;
    told = Date.now();
    progress.onProgress?.(`${name}: ${megabytes(done)} of ${megabytes(bytes)} MB`);
  };
  tell(0);
  for (const file of manifest.files) await bring(node, from, file, partial, { ...progress, tell });
  progress.onProgress?.(`${name}: comparing SHA-256`);
  await partial.verify(manifest.files, progress.signal);
  throwIfCancelled(progress.signal);
  await partial.finish();
  return { path: final, bytes, kept };
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

interface Told {
  signal?: AbortSignal;
  tell: (more: number) => void;
}

/** One file, on from where it is, over as many connections as it takes. */
async function bring(
  node: Pick<AgentNode, 'client'>,
  from: NodePath,
  file: ManifestFile,
  partial: PartialFolder,
  told: Told,
): Promise<void> {
  for (let losses = 0; ;) {
    const start = await partial.received(file);
    if (start === file.bytes && file.bytes > 0) return;
    try {
      const client = await node.client();
      const path = join(from, file.name);
      await partial.append(file.name, start, piecesOf(client, path, start, file.bytes, told));
      return;
    } catch (error) {
      if (isGone(error)) {
        const what = `${join(from, file.name)} is gone: the run keeps its newest checkpoints only`;
        throw new UserError('failed', what, 'Choose another checkpoint', { cause: error });
      }
      if (!(error instanceof UserError) || error.code !== 'connection') throw error;
      losses = (await partial.received(file)) > start ? 1 : losses + 1;
      if (losses >= mostLosses) throw error;
      await delay(200 * 2 ** losses, undefined, told.signal ? { signal: told.signal } : {}).catch(() => {
        throwIfCancelled(told.signal);
      });
    }
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof AgentError && error.code === agentErrors.notFound;

/** The file's bytes from `start` to `end`, several requests ahead. */
async function* piecesOf(
  client: AgentClient,
  path: NodePath,
  start: number,
  end: number,
  { signal, tell }: Told,
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
    const piece = Buffer.from(answer?.data ?? '', 'base64');
    if (piece.length !== Math.min(pieceBytes, end - at)) {
      const what = `${path} is shorter than the checkpoint's manifest says`;
      throw new UserError('failed', what, 'Choose another checkpoint');
    }
    at += piece.length;
    yield piece;
    tell(piece.length);
  }
}

async function wholeFile(node: Pick<AgentNode, 'client'>, path: NodePath): Promise<Buffer> {
  const bytes = await readRemote(await node.client(), path, 0, mostManifest);
  if (bytes.length > 0) return bytes;
  throw new UserError('failed', `${path} is missing or empty`, 'Choose another checkpoint');
}

async function keptBytes(partial: PartialFolder, { files }: Manifest): Promise<number> {
  let sum = 0;
  for (const file of files) sum += await partial.received(file);
  return sum;
}

/** Whether the very same checkpoint has the name. UserError (usage) where something else has. */
async function isThere(final: string, manifest: string): Promise<boolean> {
  try {
    await stat(final);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
  if ((await textOf(joinHere(final, manifestName)).catch(() => undefined)) === manifest) return true;
  throw new UserError(
    'usage',
    `${final} is there already, and is not this checkpoint`,
    'Choose another folder, or move it away',
  );
}

/** UserError (preflight) where the disk has not enough. */
async function demandRoom(folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (needed + reserve <= free) return;
  const what = `the download needs ${megabytes(needed)} MB (and leaves 64 MB free), and ${folder} has ${megabytes(free)} MB`;
  throw new UserError('preflight', what, 'Free some space, or choose a folder on another disk');
}
